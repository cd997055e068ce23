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
from numba.core.event import Event, Listener, register
from numba.extending import register_jitable

from ldiversity._kernels.compiling import tell_of_compiling

__all__ = ["Whole", "helper", "inlined", "kernel"]

Whole: TypeAlias = int | np.int64
"""A whole number of 64 bits."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


def kernel(function: _Function) -> _Function:
    """Compile a function that is called from Python, and keep it on disk.

    It is kept beside its module, or in the user's folder for caches when nothing can be written there, or in the
    folder that ``NUMBA_CACHE_DIR`` names. Where none of them can be written, every process compiles anew.
    """
    compiled: _Function
    try:
        compiled = njit(function, nogil=True, cache=True, no_cfunc_wrapper=True)  # type: ignore[call-overload]
    except RuntimeError:  # no folder to keep it in
        compiled = njit(function, nogil=True, no_cfunc_wrapper=True)  # type: ignore[call-overload]
    return compiled


def helper(function: _Function) -> _Function:
    """Let kernels call a function, without making it callable from Python."""
    registered: _Function = register_jitable(no_cfunc_wrapper=True)(function)
    return registered


def inlined(function: _Function) -> _Function:
    """Let kernels take a copy of a function where they call it."""
    compiled: _Function = njit(function, nogil=True, inline="always")
    return compiled


class _Teller(Listener):
    """Tells that a kernel is being compiled: not what it calls, nor the loops of other packages."""

    def __init__(self) -> None:
        self._kernel: object = None

    def on_start(self, event: Event) -> None:
        """Take that something begins to be compiled; numba lets one thread compile at a time."""
        dispatcher = event.data["dispatcher"]
        if self._kernel is None and dispatcher.py_func.__module__.startswith(f"{__package__}."):
            tell_of_compiling(begins=True)
            self._kernel = dispatcher

    def on_end(self, event: Event) -> None:
        """Take that it is compiled."""
        if event.data["dispatcher"] is self._kernel:
            self._kernel = None
            tell_of_compiling(begins=False)


register("numba:compile", _Teller())  # type: ignore[no-untyped-call]
