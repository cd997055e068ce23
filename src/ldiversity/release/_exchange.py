"""Two folders exchange their names in one step, where the system can do that."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

__all__ = ["exchange"]

_AT_CURRENT_FOLDER: Final = -100
_LINUX_EXCHANGE: Final = 2
_MACOS_SWAP: Final = 2
_CANNOT: Final = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}
"""The errors of kernels and file systems that do not support the exchange."""


def exchange(one: Path, other: Path) -> bool:
    """Exchange the names of two folders, so that both names exist at any time; False where the system cannot."""
    call = _system_call()
    if call is None:
        return False
    ctypes.set_errno(0)
    if call(os.fsencode(one), os.fsencode(other)) == 0:
        return True
    number = ctypes.get_errno()
    if number in _CANNOT:
        return False
    raise OSError(number, os.strerror(number), str(other))


def _system_call() -> Callable[[bytes, bytes], int] | None:
    if sys.platform == "linux":
        rename = _function("renameat2", [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint])
        here = _AT_CURRENT_FOLDER
        return None if rename is None else lambda one, other: rename(here, one, here, other, _LINUX_EXCHANGE)
    if sys.platform == "darwin":
        rename = _function("renamex_np", [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint])
        return None if rename is None else lambda one, other: rename(one, other, _MACOS_SWAP)
    return None


def _function(name: str, arguments: list[type]) -> Callable[..., int] | None:
    """A function of the C library of this system; None when it has none of that name."""
    function = getattr(ctypes.CDLL(None, use_errno=True), name, None)
    if function is not None:
        function.argtypes, function.restype = arguments, ctypes.c_int
    return function
