"""How loops are compiled: as little as possible, because every new machine compiles them once.

A *kernel* is called from Python. It is cached on disk, so it is compiled once. A *helper* is called only from kernels
and compiled into them, without the wrapper for calls from Python. (Called from Python, it runs uncompiled.) An
*inlined* helper is copied to where it is called. A *merged* helper is compiled like any other, and the result is put
where it is called: for one that gets many arrays and does little, because handing them over takes as long.

These rules also keep compiling short, as ``benchmarks/run.py first_use`` measures:

- Each kernel and helper has one signature: an element of a 32-bit array becomes ``np.int64`` before it is passed to a
  helper that gets other integers elsewhere.
- Loops replace ``a[:] = b``, ``.max()``, ``.min()``, `numpy.argmax`, `numpy.argsort` and array arithmetic: each of
  them compiles a part of numba, which takes up to two seconds. Filling with one number, ``a[:] = 0``, is free.
- If a Python function calls the kernel, it makes the arrays, and does with numpy what is needed once per call rather
  than once per record.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numba import njit
from numba.core.event import Event, Listener, register
from numba.extending import register_jitable

from ldiversity._kernels.compiling import tell_of_compiling

__all__ = ["Whole", "helper", "inlined", "kernel", "merged"]

Whole: TypeAlias = int | np.int64
"""A 64-bit integer."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


def kernel(function: _Function) -> _Function:
    """Compile a function that is called from Python, and cache it on disk.

    The cache is beside the module, in the user's cache folder if that is not writable, or in the folder that
    ``NUMBA_CACHE_DIR`` names. If none of them is writable, every process compiles again.
    """
    compiled: _Function
    try:
        compiled = njit(function, nogil=True, cache=True, no_cfunc_wrapper=True)  # type: ignore[call-overload]
    except RuntimeError:  # no folder for the cache
        compiled = njit(function, nogil=True, no_cfunc_wrapper=True)  # type: ignore[call-overload]
    return compiled


def helper(function: _Function) -> _Function:
    """Let kernels call a function that Python does not call."""
    registered: _Function = register_jitable(no_cfunc_wrapper=True)(function)
    return registered


def inlined(function: _Function) -> _Function:
    """Copy a function into the kernels that call it."""
    compiled: _Function = njit(function, nogil=True, inline="always")
    return compiled


def merged(function: _Function) -> _Function:
    """Put what a function is compiled to into the kernels that call it."""
    registered: _Function = register_jitable(no_cfunc_wrapper=True, forceinline=True)(function)
    return registered


class _Teller(Listener):
    """Reports that a kernel is being compiled, but not what it calls, nor loops of other packages."""

    def __init__(self) -> None:
        self._kernel: object = None

    def on_start(self, event: Event) -> None:
        """Handle the start of a compilation; numba lets one thread compile at a time."""
        dispatcher = event.data["dispatcher"]
        if self._kernel is None and dispatcher.py_func.__module__.startswith(f"{__package__}."):
            tell_of_compiling(begins=True)
            self._kernel = dispatcher

    def on_end(self, event: Event) -> None:
        """Handle the end of a compilation."""
        if event.data["dispatcher"] is self._kernel:
            self._kernel = None
            tell_of_compiling(begins=False)


register("numba:compile", _Teller())  # type: ignore[no-untyped-call]
