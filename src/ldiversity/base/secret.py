"""The base of everything that holds a secret. It needs no other package, so that a device can use it."""

from __future__ import annotations

from typing import NoReturn, SupportsIndex

from ldiversity.errors import ParameterError

__all__ = ["Secret"]


class Secret:
    """An object that holds a secret: it stays in its process, and its repr shows nothing.

    Pickling and copying are refused, whatever the protocol, because a pickle is clear text that ends up in files,
    queues and logs. A worker in another process loads the holder's key itself, and derives the rest.

    Examples
    --------
    >>> class Pin(Secret):
    ...     pass
    >>> Pin()
    Pin(<secret>)
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(<secret>)"

    def __reduce_ex__(self, _: SupportsIndex) -> NoReturn:
        raise ParameterError(
            type(self).__name__,
            "an object that holds a secret must not be pickled or copied",
            hint="Load the key from its file where it is needed.",
        )

    def __getstate__(self) -> NoReturn:
        self.__reduce_ex__(0)
