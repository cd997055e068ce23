"""How loops are compiled: as little as can be, because every new machine pays for it once.

A *kernel* is called from Python; it is kept on disk, so that it is compiled once. A *helper* is called from kernels
alone: it is compiled into them, without what a call from Python needs. (Called from Python it runs uncompiled.) An
*inlined* helper is copied to where it is called.

What else keeps compiling short, as ``benchmarks/run.py first_use`` measures it:

- One signature for each kernel and helper: what comes out of an array of 32-bit integers is made ``np.int64`` before
  it is handed to a helper that is given other integers elsewhere.
- Loops instead of ``a[:] = b``, ``.max()``, ``.min()``, `numpy.argmax`, `numpy.argsort` and array arithmetic: each
  compiles a part of numba, which takes up to two seconds. Filling with one number, ``a[:] = 0``, costs nothing.
- Arrays are made by the Python function that calls a kernel, where there is one. What is done once a call rather than
  once a record is done there, too, with numpy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numba import njit
from numba.extending import register_jitable

__all__ = ["Whole", "helper", "inlined", "kernel"]

Whole: TypeAlias = int | np.int64
"""A whole number of 64 bits."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


def kernel(function: _Function) -> _Function:
    """Compile a function that is called from Python, and keep it on disk."""
    compiled: _Function = njit(function, nogil=True, cache=True, no_cfunc_wrapper=True)  # type: ignore[call-overload]
    return compiled


def helper(function: _Function) -> _Function:
    """Let kernels call a function, without making it callable from Python."""
    registered: _Function = register_jitable(no_cfunc_wrapper=True)(function)
    return registered


def inlined(function: _Function) -> _Function:
    """Let kernels take a copy of a function where they call it."""
    compiled: _Function = njit(function, nogil=True, cache=True, inline="always")
    return compiled
