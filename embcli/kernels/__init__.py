"""Compiled loops over arrays. The compiler is set up before any of them is read, whoever asks first."""

from embcli.kernels import _jit  # noqa: F401
