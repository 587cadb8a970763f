"""One sentence about an artifact, out of its meta alone: what a finished step says on stderr."""

from __future__ import annotations

import math
from typing import Any

from embcli.job import counted


def sentence(kind: str, meta: dict[str, Any]) -> str:
    """Return what was made, with the figures that a user checks first."""
    of = {"tokenizer": _tokenizer, "tokens": _tokens, "counts": _counts, "vectors": _vectors, "knn": _knn}
    return (of | {"model": _model, "context": _context})[kind](meta["stats"], meta["options"])


def percent(part: float, whole: float) -> str:
    """Return a share as a person reads it: 99.3 %."""
    return f"{100 * part / whole:.1f} %" if whole else "0 %"


def _tokenizer(stats: dict[str, Any], options: dict[str, Any]) -> str:
    text = f"{counted(stats['vocab'], 'entry')}".replace("entrys", "entries")
    text += f", {counted(stats['merges'], 'merge')}"
    if "pieces" in stats:
        text += f" learned from {counted(stats['pieces'], 'piece')} ({stats['types']:,} different)"
    return text


def _pieces(stats: dict[str, Any]) -> str:
    text = f"{counted(stats['tokens'], 'token')} ({stats['types_used']:,} different) in {counted(stats['rows'], 'row')}"
    text += f", {stats['bytes_per_token']:.2f} bytes a token"
    if found := stats.get("specials_found"):
        text += f", {counted(found, 'special token')}"
    return text


def _tokens(stats: dict[str, Any], options: dict[str, Any]) -> str:
    if "bytes_per_token" in stats:
        return _pieces(stats)
    kept, read = stats["tokens_kept"], stats["tokens_read"]
    text = (
        f"kept {stats['types_kept']:,} of {stats['types_read']:,} types and {kept:,} of {read:,} tokens "
        f"({percent(kept, read)}) in {counted(stats['rows'], 'row')}"
    )
    if dropped := stats["types_dropped"]:
        why = "outside the vocabulary" if options.get("vocab") else f"rarer than {options['min_count']}"
        if options.get("max_vocab") and not options.get("vocab"):
            why += f" or beyond the {options['max_vocab']:,} most frequent"
        text += f"; {'kept as ' + options['unk'] if options.get('unk') else 'dropped'} {counted(dropped, 'type')} {why}"
    if joined := stats.get("phrases"):
        text += f"; joined {counted(joined['phrases'], 'phrase')}, {counted(joined['joins'], 'time')} in "
        text += f"{len(joined['passes'])} pass{'' if len(joined['passes']) == 1 else 'es'}"
    if repaired := stats.get("bad_sequences"):
        text += f"; {repaired:,} bad byte sequences {'replaced' if options['errors'] == 'replace' else 'left out'}"
    return text


def _counts(stats: dict[str, Any], options: dict[str, Any]) -> str:
    if "documents" in stats:
        shape = f"{counted(stats['documents'], 'document')} x {counted(stats['words'], 'word')}"
        return f"{shape}, {counted(stats['cells'], 'cell')}, sum {stats['total']:,}"
    return f"{counted(stats['words'], 'word')}, {counted(stats['cells'], 'pair')}, sum {stats['total']:,.10g}"


def _vectors(stats: dict[str, Any], options: dict[str, Any]) -> str:
    if "left_out" in stats:
        return _transformed(stats, options)
    if "objective" in stats:
        return _trained(stats, options)
    text = f"{counted(options['dim'], 'dimension')}"
    if options.get("from_") and "words" in stats:
        text = f"{counted(stats['words'], 'word')}, {text}"
    if "documents" in stats:
        text += f" of {counted(stats['documents'], 'document')} x {counted(stats['words'], 'word')}"
    if "explained" in stats:
        text += f", explained {percent(stats['explained'], 1)} of {stats['cells']:,} weighted cells"
        text += f" ({stats['solver']}, residual {stats['residual']:.1e})"
    return text


def _trained(stats: dict[str, Any], options: dict[str, Any]) -> str:
    """Return what training came to in all."""
    done, planned = stats["epochs"], options["epochs"]
    text = f"{counted(options['dim'], 'dimension')}, {stats['objective'].partition(':')[0]}, "
    text += counted(done, "epoch") if done == planned else f"{done:,} of {counted(planned, 'epoch')}"
    if "cells" in stats:
        return f"{text}, {counted(stats['cells'], 'cell')}, cost {stats['cost']:.4g}"
    text += f", {sum(stats['words']):,} words read, {counted(sum(stats['predictions']), 'prediction')}"
    if appended := stats.get("appended"):
        text += f", {counted(appended, 'word')} appended"
    return text + ("" if stats.get("reproducible", True) else ", not reproducible (--hogwild)")


def _model(stats: dict[str, Any], options: dict[str, Any]) -> str:
    """Return what training a Transformer came to."""
    done, planned = stats["steps"], options["steps"]
    text = (
        f"{counted(stats['parameters'], 'parameter')} in {counted(options['layers'], 'layer')}, {stats['objective']}, "
    )
    text += counted(done, "step") if done == planned else f"{done:,} of {counted(planned, 'step')}"
    text += f", {counted(stats['tokens'], 'token')} read, {counted(stats['targets'], 'target')}"
    if held := stats.get("heldout"):
        text += f", held-out loss {held['loss'][-1]:.4f} (perplexity {_perplexity(held['loss'][-1])})"
    if held and "longer" in held:
        text += f", in windows of {options['heldout_context']:,} tokens {_perplexity(held['longer'])}"
    return text


def _perplexity(loss: float) -> str:
    return f"{math.exp(min(loss, 700)):,.4g}"


def _context(stats: dict[str, Any], options: dict[str, Any]) -> str:
    return f"{counted(stats['tokens'], 'contextual state')} of {counted(stats['texts'], 'text')}"


def _transformed(stats: dict[str, Any], options: dict[str, Any]) -> str:
    """Return what was done to vectors, in the order in which it was done."""
    parts = [counted(options["dim"], "dimension")]
    if "removed" in stats:
        parts.append(f"{percent(stats['removed'], 1)} of the variance removed")
    if "explained" in stats:
        parts.append(f"{percent(stats['explained'], 1)} kept")
    if "anchors" in stats:
        unknown = f" ({stats['unknown_anchors']:,} unknown)" if stats["unknown_anchors"] else ""
        cosines = f"mean cosine {stats['cosine_before']:.3f} before, {stats['cosine_after']:.3f} after"
        parts.append(f"aligned by {counted(stats['anchors'], 'word')}{unknown}: {cosines}")
    if stats["zero_rows"]:
        parts.append(f"{counted(stats['zero_rows'], 'row')} without direction")
    if stats["left_out"]:
        parts.append(f"without {' and '.join(stats['left_out'])}".replace("_", " "))
    return ", ".join(parts)


def _knn(stats: dict[str, Any], options: dict[str, Any]) -> str:
    text = f"{counted(stats['rows'], stats['row'])}, {counted(stats['top'], 'neighbor')} each"
    if stats["searched"] < stats["rows"]:
        text += f" of the first {stats['searched']:,}"
    if missing := stats["rows"] * stats["top"] - stats["listed"]:
        text += f"; {missing:,} places are empty, {counted(stats['empty'], stats['row'])} without any neighbor"
    return text
