"""What a program remembers only to be faster, and forgets now and then: what is still needed is soon there again.

Bounds alone do not do: a table that may hold thousands of names takes hours to fill with those of objects that are gone, and
many tables that fill slowly look like a leak. A process that does other upkeep calls ``forget`` as a part of it.
"""

from __future__ import annotations

from types import MethodType

from pybernetes.lib import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol, TypeVar

    class _Cached(Protocol):
        def cache_clear(self) -> None: ...

    Cached = TypeVar("Cached", bound=_Cached)

# Return what forgets, or None once the thing that remembered is gone.
_forgetters: list[Callable[[], Callable[[], object] | None]] = []


def on_forget(forget: Callable[[], Any]) -> None:
    """Call a function whenever everything is forgotten; a method is not what keeps its object alive."""
    _forgetters.append(_weak_method(forget) if isinstance(forget, MethodType) else lambda: forget)


def _weak_method(method: MethodType) -> Callable[[], Callable[[], object] | None]:
    """Return what weakref.WeakMethod is; kubectl would wait for that module longer than for all that it remembers."""
    from _weakref import ref

    owner, function = ref(method.__self__), method.__func__

    def alive() -> Callable[[], object] | None:
        value = owner()
        return None if value is None else function.__get__(value)

    return alive


def forgotten(function: Cached) -> Cached:
    """Have a function with ``lru_cache`` forget what it returned; decorates such a function."""
    on_forget(function.cache_clear)
    return function


async def forget() -> None:
    """Forget everything that is remembered only to be faster, thing by thing, and give its memory back."""
    import asyncio  # not every program that remembers has a loop, or the time to load it

    from pybernetes.lib.memory import gc_tuning

    for forgetter in list(_forgetters):
        method = forgetter()
        if method is None:
            _forgetters.remove(forgetter)
            continue
        method()
        del method
        await asyncio.sleep(0)  # a large table takes a moment
    await asyncio.to_thread(gc_tuning.return_memory)  # elsewhere: it may take milliseconds
