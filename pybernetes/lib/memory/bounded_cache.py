"""Remember what a function makes of texts that others send, within a bound of bytes.

``functools.lru_cache`` counts entries: a few thousand of them are gigabytes if each is as long as a sender likes.
"""

from __future__ import annotations

from sys import getsizeof

from pybernetes.lib import TYPE_CHECKING
from pybernetes.lib.memory.forgetting import on_forget

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ParamSpec, TypeVar

    Parameters = ParamSpec("Parameters")
    Value = TypeVar("Value")
# What an entry takes beside its key and what is made of it.
_ENTRY_BYTES = 300
# No entry may take more than this part of all; what is larger is not kept.
_PART = 32
# Marks of functions that take any number of arguments: CO_VARARGS and CO_VARKEYWORDS.
_VARIABLE = 0x04 | 0x08


class BoundedCache(dict["Any", "Any"]):
    """Values by their keys: looked up as fast as in any dict, made when they are missing, all dropped when it is full.

    A value is taken to be ``weight`` times as large as its key.
    """

    def __init__(self, make: Callable[[Any], Any], most_bytes: int, weight: int = 2) -> None:
        super().__init__()
        self._make, self._most, self._weight = make, most_bytes, weight
        self.bytes = 0
        on_forget(self.forget)

    def forget(self) -> None:
        """Drop everything."""
        self.clear()
        self.bytes = 0

    def __missing__(self, key: Any) -> Any:
        value = self._make(key)
        # Mostly the key is a plain text, and new ones come with every object that is made.
        if type(key) is str and key.isascii():
            size = len(key)
        else:
            size = sum(map(getsizeof, key)) if type(key) is tuple else getsizeof(key)
        size = _ENTRY_BYTES + size * (1 + self._weight)
        if size * _PART <= self._most:
            if self.bytes + size > self._most:
                self.forget()
            self.bytes += size
            self[key] = value
        return value


def bounded_cache(
    most_bytes: int = 1 << 20, weight: int = 2
) -> Callable[[Callable[Parameters, Value]], Callable[Parameters, Value]]:
    """Return the decorator of a function whose arguments, given by their places, are the key. Errors are not kept."""

    def decorate(function: Callable[Parameters, Value]) -> Callable[Parameters, Value]:
        # Not with inspect: it takes longer to import than a kubectl command needs for its work.
        code = function.__code__
        if code.co_argcount + code.co_kwonlyargcount == 1 and not code.co_flags & _VARIABLE:
            return BoundedCache(function, most_bytes, weight).__getitem__  # type: ignore[return-value]
        cache = BoundedCache(lambda key: function(*key), most_bytes, weight)  # type: ignore[call-arg]

        def call(*key: Any) -> Value:
            return cache[key]

        call.__doc__ = function.__doc__
        return call  # type: ignore[return-value]

    return decorate
