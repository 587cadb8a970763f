"""One sentence about an artifact, out of its meta alone: what a finished step says on stderr."""

from __future__ import annotations

from typing import Any


def sentence(kind: str, meta: dict[str, Any]) -> str:
    """Return what was made, with the figures that a user checks first."""
    return {"tokens": _tokens, "counts": _counts, "vectors": _vectors}[kind](meta["stats"], meta["options"])


def percent(part: float, whole: float) -> str:
    """Return a share as a person reads it: 99.3 %."""
    return f"{100 * part / whole:.1f} %" if whole else "0 %"


def _tokens(stats: dict[str, Any], options: dict[str, Any]) -> str:
    kept, read = stats["tokens_kept"], stats["tokens_read"]
    text = (
        f"kept {stats['types_kept']:,} of {stats['types_read']:,} types and {kept:,} of {read:,} tokens "
        f"({percent(kept, read)}) in {stats['rows']:,} rows"
    )
    if dropped := stats["types_dropped"]:
        why = "outside the vocabulary" if options.get("vocab") else f"rarer than {options['min_count']}"
        if options.get("max_vocab") and not options.get("vocab"):
            why += f" or beyond the {options['max_vocab']:,} most frequent"
        text += f"; dropped {dropped:,} types {why}"
    if repaired := stats.get("bad_sequences"):
        text += f"; {repaired:,} bad byte sequences {'replaced' if options['errors'] == 'replace' else 'left out'}"
    return text


def _counts(stats: dict[str, Any], options: dict[str, Any]) -> str:
    return f"{stats['words']:,} words, {stats['cells']:,} pairs, sum {stats['total']:,.10g}"


def _vectors(stats: dict[str, Any], options: dict[str, Any]) -> str:
    text = f"{options['dim']:,} dimensions"
    if "explained" in stats:
        text += f" explain {percent(stats['explained'], 1)} of {stats['cells']:,} weighted cells"
        text += f" ({stats['solver']}, residual {stats['residual']:.1e})"
    return text
