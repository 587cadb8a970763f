"""The Transformer of ``embcli attend`` in PyTorch: same text, start and schedule; the attention is PyTorch's own.

    PYTHONPATH=. PEER_PYTHON experiments/bench/attend_twin.py TOKENS --steps 100 [options of attend] [--losses FILE]

Needs torch, numpy and numba. Batches and fresh parameters are embcli's, so that losses can be compared step by step;
the model, its gradients and its optimizer are PyTorch's. Prints the held-out loss and tokens a second.
"""

from __future__ import annotations

import argparse
import json
import math
import time

import numpy as np
import torch
from torch.nn import functional as F

from embcli.artifacts import store
from embcli.job import Job
from embcli.models import positions
from embcli.models.optimizer import Schedule
from embcli.models.packing import Batches, HeldOut, split
from embcli.models.transformer import Config
from embcli.models.transformer_start import afresh
from embcli.models.workroom import Layout, Rows
from embcli.spec import AttendParams, make


class Twin:
    """The model: ``weights`` are leaves of PyTorch, queries, keys and values of a layer in one matrix."""

    def __init__(self, config: Config, theta: np.ndarray) -> None:
        self.config = config
        given = {name: torch.from_numpy(view.copy()) for name, view in Layout(config).views(theta).items()}
        self.fixed = torch.zeros(config.context, config.dim)
        if config.position == "sinusoidal":
            self.fixed = torch.from_numpy(
                positions.sinusoidal(np.arange(config.context), config.dim).astype(np.float32)
            )
        if config.position == "rope":
            angle = torch.from_numpy(positions.angles(np.arange(config.context), config.dim // config.heads))
            self.cos, self.sin = angle.cos().float(), angle.sin().float()
        if config.position == "alibi":
            self.alibi = torch.from_numpy(positions.alibi(np.arange(config.context), config.heads).astype(np.float32))
        self.weights: dict[str, torch.Tensor] = {}
        for name, value in given.items():
            if value.ndim > 1 and len(value) == config.layers and not name.endswith("_rows"):
                if name.startswith(("key", "value")):
                    continue
                if name.startswith("query"):
                    rest = name.removeprefix("query")
                    value = torch.cat([given[part + rest] for part in ("query", "key", "value")], -1)
                self.weights |= {f"{name}.{layer}": value[layer].clone() for layer in range(config.layers)}
            else:
                self.weights[name] = value.clone()
        for value in self.weights.values():
            value.requires_grad_()

    def decayed(self, name: str) -> bool:
        """Return whether weight decay takes a parameter."""
        return not name.endswith("_rows") and "_bias" not in name and "_gain" not in name

    def norm(self, X: torch.Tensor, name: str, layer: str) -> torch.Tensor:
        """Return a layer norm."""
        return F.layer_norm(X, X.shape[-1:], self.weights[f"{name}_gain{layer}"], self.weights[f"{name}_bias{layer}"])

    def linear(self, X: torch.Tensor, name: str, layer: int) -> torch.Tensor:
        """Return X W + b."""
        return F.linear(X, self.weights[f"{name}.{layer}"].T, self.weights[f"{name}_bias.{layer}"])

    def turned(self, X: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        """Return queries or keys (B, heads, T, width) turned by RoPE."""
        cos, sin = self.cos[at][:, None], self.sin[at][:, None]
        x, y = X[..., 0::2], X[..., 1::2]
        return torch.stack([x * cos - y * sin, x * sin + y * cos], -1).flatten(-2)

    def loss(self, rows: Rows) -> torch.Tensor:
        """Return the mean loss of the targets."""
        c, T, W = self.config, self.config.context, self.weights
        ids, targets, at, first, last = (
            torch.from_numpy(a.reshape(-1, T)) for a in (rows.ids, rows.targets, rows.at, rows.first, rows.last)
        )
        X = F.embedding(ids.clamp(min=0), W["token_rows"]) * c.scale
        X = X + (W["position_rows"] if c.position == "learned" else self.fixed)[at]
        whole = not c.masked and bool((first == 0).all()) and bool((last == torch.arange(1, T + 1)).all())
        mask = None
        if not whole or c.position == "alibi":
            columns = torch.arange(T)
            seen = (columns >= first[..., None]) & (columns < last[..., None])
            seen |= (first >= last)[..., None] & (columns == columns[:, None])
            mask = seen[:, None]
            if c.position == "alibi":
                mask = torch.where(mask, self.alibi[None], float("-inf"))
        for layer in range(c.layers):
            parts = self.linear(self.norm(X, "norm1", f".{layer}"), "query", layer)
            q, k, v = parts.view(*ids.shape, 3, c.heads, -1).permute(2, 0, 3, 1, 4)
            if c.position == "rope":
                q, k = self.turned(q, at), self.turned(k, at)
            mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None)
            X = X + self.linear(mixed.transpose(1, 2).reshape(X.shape), "merge", layer)
            wide = F.gelu(self.linear(self.norm(X, "norm2", f".{layer}"), "widen", layer))
            X = X + self.linear(wide, "narrow", layer)
        X = X[targets >= 0]
        table = W["token_rows"][: c.vocabulary] if c.tie else W["output_rows"]
        return F.cross_entropy(F.linear(self.norm(X, "final", ""), table, W.get("output_bias")), targets[targets >= 0])


def main() -> None:
    """Train the twin and say what it came to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tokens")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--losses")
    args, rest = parser.parse_known_args()
    torch.set_num_threads(args.threads)
    values = dict(zip([r.removeprefix("--") for r in rest[::2]], rest[1::2], strict=True))
    seed = int(values.pop("seed", 0))
    flags = {"tie", "output-bias", "scale-embeddings"}
    params = make(AttendParams, {k: v == "yes" if k in flags else v for k, v in values.items()})
    tokens = store.read(args.tokens, ("tokens",))
    start = afresh(tokens, params, Job(seed=seed))
    params, config = start.params, start.config
    train, held = split(tokens, config, params.heldout, seed)
    batches, twin = Batches(tokens, config, train, params.batch, seed), Twin(config, start.theta)
    groups = [
        {"params": [w for name, w in twin.weights.items() if twin.decayed(name) == decayed], "weight_decay": decay}
        for decayed, decay in ((True, params.weight_decay), (False, 0.0))
    ]
    adam = torch.optim.AdamW(groups, betas=(params.beta1, params.beta2), eps=1e-8, fused=True)
    schedule = Schedule(params.lr, params.min_lr, params.warmup, params.steps, params.decay)
    losses, tokens_read, began = [], 0, time.perf_counter()
    for step in range(1, (params.stop_after or params.steps) + 1):
        rows = batches.next(step - 1)
        tokens_read += int((rows.ids >= 0).sum())
        for group in adam.param_groups:
            group["lr"] = schedule.rate(step)
        adam.zero_grad()
        loss = twin.loss(rows)
        loss.backward()
        if params.clip:
            torch.nn.utils.clip_grad_norm_(twin.weights.values(), params.clip)
        adam.step()
        losses.append(loss.item())
    seconds = time.perf_counter() - began
    found = {"tokens": tokens_read, "tokens_per_second": round(tokens_read / seconds), "loss": losses[-1]}
    if len(held):
        kept = HeldOut(tokens, config, held, seed)
        with torch.no_grad():
            parts = [
                kept.rows.part(a, a + 16 * config.context) for a in range(0, len(kept.rows.ids), 16 * config.context)
            ]
            total = sum(twin.loss(part).item() * int((part.targets >= 0).sum()) for part in parts)
        found |= {"heldout": total / kept.targets, "perplexity": math.exp(total / kept.targets)}
    if args.losses:
        np.save(args.losses, np.array(losses))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
