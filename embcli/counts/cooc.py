"""The step ``cooc``: which words stand near each other, or in which documents: tokens, counts, or several of them.

Here is what is asked for and what is done about it: windows.py counts the words near each word of a text,
documents.py the words of each document, merge.py adds up several inputs.
"""

from __future__ import annotations

from collections.abc import Sequence

from embcli.artifacts.schema import Counts, Tokens
from embcli.counts import documents, merge
from embcli.counts.budget import plan
from embcli.counts.join import Input, agreed, rules
from embcli.counts.windows import check, count_by, task_of
from embcli.job import Job
from embcli.spec import CoocParams, parse_size


def count(inputs: list[Tokens | Counts], params: CoocParams, job: Job) -> Counts:
    """Return the co-occurrence counts of words in one or several inputs.

    X[w, c] is the sum, over all places of w and the places of c at most ``window`` away (in the same row, unless
    ``cross_rows``), of a weight that depends on the distance d: flat 1, harmonic 1/d, dynamic (window - d + 1)/window,
    the expectation of word2vec's random windows (Levy, Goldberg and Dagan 2015, section 3.1). Symmetric counts look at
    both sides, so X equals its transpose and a word counts with itself from both ends; ``left`` looks before w,
    ``right`` after it. With ``context`` document X[d, w] is how often w stands in row d of the tokens.

    Parameters
    ----------
    inputs : tokens, which are counted, and counts, which are taken as they are; of counts at least two. Several are
        added up over the words that any of them has; documents follow one another.
    params : ``memory`` is what to plan with, besides about 200 MB for the program itself; None is the job's. If there
        are only counts, they say how they were made.
    job : whose threads and temporary folder are used.

    Returns
    -------
    Counts whose ``data`` and ``indices`` are produced while they are written. ``stats``: words, tokens, rows (or
    documents), cells, total (sum of all counts), denominator (of the weights).

    Raises
    ------
    UsageError : ``memory`` is too little, counts come alone, or options are not those that counts were made with.
    KindError : the inputs were made with different options, or their texts were cut differently.
    InputError : the machine has too little memory, or an input is damaged.
    NumbersError : there is nothing to count.
    """
    params = agreed(inputs, params)
    budget = parse_size(params.memory) if params.memory else job.budget
    asked = params.memory is not None
    if params.context == "document":
        made = documents.count(inputs, budget, asked, job)
    elif len(inputs) > 1:
        made = merge.merged(inputs, params, budget, asked, job)
    else:
        (tokens,) = inputs
        assert isinstance(tokens, Tokens)
        check(tokens, params)
        made = count_by(plan(task_of(tokens, params), budget, job.threads, asked), tokens, params, job)
    return finished(made, inputs, params)


def finished(made: Counts, inputs: Sequence[Input], params: CoocParams) -> Counts:
    """Return counts with what they inherit from their inputs: how texts were cut, and how counts were made."""
    made.text = dict(inputs[0].text)
    if any(isinstance(one, Counts) for one in inputs):
        made.options |= {name: getattr(params, name) for name in rules(params.context)}
    return made
