"""Oracle: central differences of the loss, and PyTorch's gradients and training on the same weights, in float64."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from transformers import COMBINATIONS, batch, config, differences, parameters, pieces, readable_loss

from embcli.models.network import Network
from embcli.models.passes import Dropout
from embcli.models.workroom import Layout, Room

CASES = pytest.mark.parametrize(("position", "objective", "tie", "bias", "scale", "dropout", "T"), COMBINATIONS)


@CASES
def test_gradients_equal_differences(
    position: str, objective: str, tie: bool, bias: bool, scale: bool, dropout: float, T: int
) -> None:
    c = config(position, objective, tie, bias, scale, T)
    layout = Layout(c)
    theta, P = parameters(c)
    rows, room, network = batch(c), Room(c, 3, np.float64), Network(c, P)
    drop = Dropout(dropout, np.uint64(99)) if dropout else None
    g, share = np.full(layout.size, np.nan), 1 / int((rows.targets >= 0).sum())
    loss = network.gradients(rows, room, layout.views(g), share, drop)
    if drop is None:
        assert loss == pytest.approx(readable_loss(c, P, rows), rel=1e-12)
        assert loss == pytest.approx(network.loss(rows, room), rel=1e-14)
    step = 11 if T < 10 else 997
    places = [i for a, b in layout.spans.values() for i in range(a, b)[:: max(1, min(step, (b - a) // 3))]]
    spare = layout.views(np.empty(layout.size))
    found = differences(lambda: network.gradients(rows, room, spare, share, drop) * share, theta, places)
    np.testing.assert_allclose(g[places], found, rtol=1e-6, atol=1e-8 * np.abs(g).max() + 1e-9)
    again = np.full(layout.size, np.nan)  # window by window, added up
    network.gradients(rows.part(0, T), room, layout.views(again), share, drop)
    network.gradients(rows.part(T, 3 * T), room, layout.views(again), share, drop, first=False)
    np.testing.assert_allclose(again, g, rtol=0, atol=1e-14)


def test_a_wrong_gradient_is_seen() -> None:
    c = config("alibi")
    layout = Layout(c)
    theta, P = parameters(c)
    rows, room, network = batch(c), Room(c, 3, np.float64), Network(c, P)
    g = np.zeros(layout.size)
    network.gradients(rows, room, layout.views(g), 1.0)
    at = layout.spans["key"][0]
    found = differences(lambda: network.loss(rows, room), theta, [at])
    assert g[at] == pytest.approx(found[0], rel=1e-6) and g[at] * 1.001 != pytest.approx(found[0], rel=1e-6)


def test_frozen_rows_have_no_gradient() -> None:
    for tie in (True, False):
        c = config("none", tie=tie)
        layout = Layout(c)
        _, P = parameters(c)
        g = np.zeros((2, layout.size))
        for frozen in (0, 1):
            Network(c, P, bool(frozen)).gradients(batch(c), Room(c, 3, np.float64), layout.views(g[frozen]), 1.0)
        start, stop = layout.spans["token_rows"]
        assert (g[1, start:stop] == 0).all() and (g[0, start:stop] != 0).any()
        np.testing.assert_array_equal(g[0, stop:], g[1, stop:])


@CASES
def test_gradients_equal_pytorch(
    position: str, objective: str, tie: bool, bias: bool, scale: bool, dropout: float, T: int
) -> None:
    torch = pytest.importorskip("torch")
    c = config(position, objective, tie, bias, scale, T)
    layout = Layout(c)
    theta, P = parameters(c)
    rows, g = batch(c), np.zeros(layout.size)
    loss = Network(c, P).gradients(rows, Room(c, 3, np.float64), layout.views(g), 1.0)
    leaf = torch.from_numpy(theta.copy()).requires_grad_()
    W = {name: leaf[a:b].view(layout.shapes[name]) for name, (a, b) in layout.spans.items()}
    total = sum(_torch_loss(torch, c, W, ids, targets) for ids, targets in pieces(rows, T))
    total.backward()
    assert loss == pytest.approx(total.item(), rel=1e-12)
    np.testing.assert_allclose(g, leaf.grad.numpy(), rtol=1e-6, atol=1e-9 * np.abs(g).max())


def _torch_loss(torch, c, W, ids, targets):  # type: ignore[no-untyped-def]
    """Return the sum of the losses of one piece, written with PyTorch's own layers."""
    F, n, width = torch.nn.functional, len(ids), c.dim // c.heads
    at = torch.arange(n, dtype=torch.float64)

    def angles(d: int):  # type: ignore[no-untyped-def]
        return at[:, None] / 10000 ** (torch.arange(0, d, 2, dtype=torch.float64) / d)

    def turned(x):  # type: ignore[no-untyped-def]
        pairs = torch.view_as_complex(x.reshape(c.heads, n, -1, 2).contiguous())
        return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles(width)), angles(width))).reshape(x.shape)

    X = F.embedding(torch.from_numpy(ids), W["token_rows"]) * c.scale
    if c.position == "sinusoidal":
        X = X + torch.stack([angles(c.dim).sin(), angles(c.dim).cos()], -1).reshape(n, c.dim)
    if c.position == "learned":
        X = X + W["position_rows"][:n]
    mask = torch.zeros(c.heads, n, n, dtype=torch.float64)
    if c.position == "alibi":
        slopes = torch.tensor([2.0 ** (-8 * h / c.heads) for h in range(1, c.heads + 1)], dtype=torch.float64)
        mask = mask - slopes[:, None, None] * (at[:, None] - at).abs()
    if not c.masked:
        mask = mask.masked_fill(at[None, :] > at[:, None], float("-inf"))
    for i in range(c.layers):
        Y = F.layer_norm(X, (c.dim,), W["norm1_gain"][i], W["norm1_bias"][i])
        q, k, v = (
            (Y @ W[m][i] + W[f"{m}_bias"][i]).view(n, c.heads, width).transpose(0, 1) for m in ("query", "key", "value")
        )
        if c.position == "rope":
            q, k = turned(q), turned(k)
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(0, 1).reshape(n, c.dim)
        X = X + mixed @ W["merge"][i] + W["merge_bias"][i]
        Y = F.layer_norm(X, (c.dim,), W["norm2_gain"][i], W["norm2_bias"][i])
        X = X + F.gelu(Y @ W["widen"][i] + W["widen_bias"][i]) @ W["narrow"][i] + W["narrow_bias"][i]
    H = F.layer_norm(X, (c.dim,), W["final_gain"], W["final_bias"])
    Z = F.linear(H, W["token_rows"][: c.vocabulary] if c.tie else W["output_rows"], W.get("output_bias"))
    return F.cross_entropy(Z, torch.from_numpy(targets), ignore_index=-1, reduction="sum")


def test_steps_of_adamw_equal_pytorch() -> None:
    torch = pytest.importorskip("torch")
    from embcli.models.lanes import Lanes
    from embcli.models.optimizer import Rule

    c = config("none")
    layout = Layout(c)
    theta, _ = parameters(c)
    ours, rows = theta.copy(), batch(c)
    lanes = Lanes(c, ours, 3, Rule(True, weight_decay=0.1, clip=0.5))
    lanes.optimizer.theta, lanes.network = ours, Network(c, layout.views(ours))
    leaves = {name: torch.from_numpy(theta[a:b].copy()).requires_grad_() for name, (a, b) in layout.spans.items()}
    plain = [v for n, v in leaves.items() if n.endswith(("_rows", "_bias", "_gain"))]
    rest = [v for n, v in leaves.items() if not n.endswith(("_rows", "_bias", "_gain"))]
    groups = [{"params": plain, "weight_decay": 0.0}, {"params": rest, "weight_decay": 0.1}]
    adam = torch.optim.AdamW(groups, lr=0.01, betas=(0.9, 0.95), eps=1e-8)
    targets = int((rows.targets >= 0).sum())
    for number in range(1, 4):
        lanes.step(rows, number, 0.01)
        W = {name: leaf.view(layout.shapes[name]) for name, leaf in leaves.items()}
        adam.zero_grad()
        (sum(_torch_loss(torch, c, W, *piece) for piece in pieces(rows, c.context)) / targets).backward()
        torch.nn.utils.clip_grad_norm_(leaves.values(), 0.5)
        adam.step()
    theirs = torch.cat([leaf.detach().flatten() for leaf in leaves.values()]).numpy()
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-7)
    assert np.abs(ours - theta).max() > 0.01


def test_the_twin_of_the_bench_takes_the_same_steps(tmp_path: Path) -> None:
    """The loss of each step, from the same start on the same batches, float32 on both sides."""
    pytest.importorskip("torch")
    import subprocess
    import sys

    from conftest import ROOT, environment, ok

    text = (ROOT / "data" / "corpus.txt").read_bytes()[:60_000]
    (tmp_path / "c.txt").write_bytes(text)
    ok("encode", tmp_path / "c.txt", "--words", "-o", tmp_path / "t.npz")
    shape = ["--dim", "16", "--heads", "2", "--context", "32", "--batch", "4", "--steps", "20", "--position", "alibi"]
    ok("attend", tmp_path / "t.npz", *shape, "-o", tmp_path / "m.npz")
    twin = [sys.executable, str(ROOT / "experiments" / "bench" / "attend_twin.py"), str(tmp_path / "t.npz"), *shape]
    subprocess.run([*twin, "--losses", str(tmp_path / "l.npy")], check=True, env=environment(), capture_output=True)
    np.testing.assert_allclose(np.load(tmp_path / "m.npz")["step_loss"], np.load(tmp_path / "l.npy"), rtol=1e-5)
