"""Write tokens as text: the bytes of words, with separators between them and line ends behind rows."""

from embcli.kernels._jit import kernel
from embcli.kernels.typetable import ONE, ZERO, U

_SPACE, _LF = ord(" "), ord("\n")
#: what stands in ``state``: the next row end, and whether the next token is the first of its row
ROW, FIRST = range(2)


@kernel
def spell(ids, data, offsets, ends, closed, spaced, state, out):
    """Write the tokens ``ids`` and the row ends up to and at their beginnings; return how many bytes.

    ids : any unsigned.  data, offsets : the words, uint8 and uint64.  ends : uint64, where rows end, counted from the
    first of ``ids``; ends at ``len(ids)`` are left to the next call.  closed : bool, whether the row has a line end.
    spaced : whether a space stands between words.  state : uint64 (2,), see ROW.  out : uint8, large enough.
    """
    n, row, first = ZERO, state[ROW], state[FIRST] != ZERO
    for i in range(U(len(ids))):
        while row < U(len(ends)) and ends[row] <= i:
            if closed[row]:
                out[n] = _LF
                n += ONE
            row += ONE
            first = True
        if spaced and not first:
            out[n] = _SPACE
            n += ONE
        first = False
        begin = offsets[ids[i]]
        for k in range(offsets[U(ids[i]) + ONE] - begin):
            out[n + k] = data[begin + k]
        n += offsets[U(ids[i]) + ONE] - begin
    state[ROW], state[FIRST] = row, U(first)
    return n
