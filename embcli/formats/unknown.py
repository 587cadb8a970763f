"""What to say of a file that is neither vectors nor a tokenizer. Only texts."""

from __future__ import annotations

from embcli.artifacts import identify
from embcli.errors import EmbcliError, InputError, UsageError
from embcli.formats import vector_shape


def foreign(name: str, raw: bytes, head: bytes, wanted: str = "") -> EmbcliError:
    """Return the error for a file that cannot be read, by its first bytes as they are and unpacked.

    ``wanted`` is the format that was asked for, if it was.
    """
    name = identify.show(name)
    if not wanted and vector_shape.single(head):
        return UsageError(
            f"{name}: a word and one number a line may be counts, or vectors of one dimension; if they are vectors, "
            "say --from glove"
        )
    if head and not head.strip():
        return InputError(f"{name}: holds only blank lines")
    if comma := vector_shape.decimal_comma(head):
        return InputError(f"{name}: line 1: {comma!r} is no number; vectors have decimal points")
    what = identify.what_is(head)
    packed = identify.what_is(raw)
    if packed.startswith("compressed"):
        what = f"{what}, {packed}" if packed != what else f"{packed} and damaged"
    if "pickle" in what:
        hint = "gensim's own files are saved for others with its save_word2vec_format"
    elif wanted:
        hint = f"expected {wanted}"
    else:
        hint = "expected vectors (text, .bin, .tsv with labels, .safetensors) or a tokenizer (.json, merges, ranks)"
    return InputError(f"{name}: looks like {what}; {hint}")


def refuse(name: str, raw: bytes, head: bytes, wanted: str) -> None:
    """Raise InputError if what should be a text of vectors begins like something that is none."""
    what = identify.what_is(head)
    if vector_shape.begins_with_row(head) and not identify.is_binary(head):
        return  # such as '<script> 0.1 0.2' is a word and its numbers
    if what.startswith(("a ", "an ", "nothing")) or identify.is_binary(head):
        raise foreign(name, raw, head, wanted)
