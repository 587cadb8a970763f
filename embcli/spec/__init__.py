"""What steps exist and which options they take: the one declaration behind commands, help, YAML and provenance.

A step is a row of STEPS; its options are the fields of a frozen dataclass, annotated with ``Opt``. To add a method, add
a dataclass and a row to the file of its panel and a file in ``models``. Standard library only, so that reading it costs
nothing.
"""

from embcli.spec.attend import ROWS as _ATTEND
from embcli.spec.attend import AttendParams
from embcli.spec.common import Common, OnCluster, Step, StepCommon
from embcli.spec.counts import ROWS as _COUNTS
from embcli.spec.counts import CoocParams, SvdParams
from embcli.spec.experiments import ROWS as _EXPERIMENTS
from embcli.spec.experiments import RunParams
from embcli.spec.options import Field, Opt, Params, as_utf8, fields, make, parse_size, recorded
from embcli.spec.outside import ROWS as _OUTSIDE
from embcli.spec.outside import ConvertParams
from embcli.spec.pictures import ROWS as _PICTURES
from embcli.spec.pictures import PlotParams
from embcli.spec.reports import ROWS as _REPORTS
from embcli.spec.reports import EvalParams, InfoParams, NeighborsParams
from embcli.spec.text import ROWS as _TEXT
from embcli.spec.text import WORD_OPTIONS, BpeTrainParams, DecodeParams, EncodeParams
from embcli.spec.trained import ROWS as _TRAINED
from embcli.spec.trained import FastTextParams, GloveParams, Word2vecParams
from embcli.spec.vectors import ROWS as _VECTORS
from embcli.spec.vectors import TransformParams

STEPS: dict[str, Step] = {
    step.name: step
    for step in (*_TEXT, *_COUNTS, *_TRAINED, *_ATTEND, *_VECTORS, *_OUTSIDE, *_REPORTS, *_PICTURES, *_EXPERIMENTS)
}

__all__ = [
    "STEPS",
    "WORD_OPTIONS",
    "AttendParams",
    "BpeTrainParams",
    "Common",
    "ConvertParams",
    "CoocParams",
    "DecodeParams",
    "EncodeParams",
    "EvalParams",
    "FastTextParams",
    "Field",
    "GloveParams",
    "InfoParams",
    "NeighborsParams",
    "OnCluster",
    "Opt",
    "Params",
    "PlotParams",
    "RunParams",
    "Step",
    "StepCommon",
    "SvdParams",
    "TransformParams",
    "Word2vecParams",
    "as_utf8",
    "fields",
    "make",
    "parse_size",
    "recorded",
]
