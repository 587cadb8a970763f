"""A Transformer that can be trained: the losses and the exact gradients of some windows, in the memory of one lane.

The same model as transformer.py, which is there to be read. One BLAS thread, no random state: lanes run side by side
and their gradients are summed in order (optimizer.py). What happens in a pass is passes.py.
"""

from __future__ import annotations

import numpy as np

from embcli.models import positions
from embcli.models.heads import Heads
from embcli.models.passes import Arrays, Dropout, Pass, Tables
from embcli.models.transformer import Config
from embcli.models.workroom import Room, Rows

#: gradients that begin with a product; the others are added to, and start from zero
_PRODUCTS = {"query", "key", "value", "merge", "widen", "narrow", "output_rows"}


class Network:
    """A Transformer that can be trained.

    Parameters
    ----------
    config : what it is like.  parameters : its arrays by name (``Layout.views``), all of one floating type.
    frozen : leave the token rows as they are: no gradient is made for them.
    """

    def __init__(self, config: Config, parameters: Arrays, frozen: bool = False) -> None:
        self.config, self.parameters = config, parameters
        dtype = parameters["token_rows"].dtype
        added = np.zeros((0, config.dim), dtype)
        if config.position == "sinusoidal":
            added = positions.sinusoidal(np.arange(config.context), config.dim).astype(dtype)
        if config.position == "learned":
            added = parameters["position_rows"]
        self.tables = Tables(config, parameters, Heads(config, dtype), added, frozen)

    def loss(self, rows: Rows, room: Room) -> float:
        """Return the sum of the losses of all targets, nats; no dropout, no gradient."""
        return Pass(self.tables, rows, room, None, None).forward(0.0)

    def gradients(
        self,
        rows: Rows,
        room: Room,
        gradients: Arrays,
        share: float,
        dropout: Dropout | None = None,
        first: bool = True,
    ) -> float:
        """Return the sum of the losses; put (``first``) or add the gradients of ``share`` times it to ``gradients``."""
        if first:
            for name, array in gradients.items():
                if name not in _PRODUCTS:
                    array.fill(0)
        run = Pass(self.tables, rows, room, gradients, dropout, first)
        loss = run.forward(share)
        run.backward()
        return loss
