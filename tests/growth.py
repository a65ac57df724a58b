"""What a process has more of after some rounds of work: objects by their types, and entries of tables."""

from __future__ import annotations

import gc
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Awaitable, Callable

from tests.support import eventually

# What is on its way when a count begins is gone once so many counts running have found no less.
_QUIET = 5
TABLES = (dict, list, set, deque, OrderedDict, defaultdict)


def census() -> Counter[str]:
    """Count what is there by type."""
    gc.collect()
    names = (f"{type(obj).__module__}.{type(obj).__qualname__}" for obj in gc.get_objects())
    return Counter(name for name in names if name.startswith("pybernetes."))


async def at_rest(look: Callable[[], Awaitable[Counter[str]]]) -> Counter[str]:
    """Count until what is there does not become less any more; the least of all counts."""
    least, quiet = await look(), 0

    async def still() -> bool:
        nonlocal least, quiet
        seen = await look()
        less = Counter({name: min(count, seen[name]) for name, count in least.items()})
        least, quiet = less, quiet + 1 if less == least else 0
        return quiet == _QUIET

    await eventually(still, 300)
    return least


def sizes() -> dict[int, int]:
    """Return how many entries each table has."""
    return {id(table): len(table) for table in gc.get_objects() if type(table) in TABLES}


def grown_tables(before: dict[int, int], between: dict[int, int], least: int) -> set[str]:
    """Name the tables that got at least so many more twice, by whoever holds them; once could be another table in the place of a first."""
    grown = []
    for table in gc.get_objects():
        if type(table) in TABLES and id(table) in before and id(table) in between:
            first, second = between[id(table)] - before[id(table)], len(table) - between[id(table)]
            if min(first, second) >= least:
                grown.append(table)
    return {owner(table) for table in grown}


def owner(table: object) -> str:
    """Return the attribute that a table is, or where else it is held."""
    holders = gc.get_referrers(table)
    for holder in holders:
        for own in (holder, *gc.get_referrers(holder)) if type(holder) is dict else (holder,):
            for name in getattr(own, "__dict__", ()):
                if getattr(own, name, None) is table:
                    return f"{type(own).__qualname__}.{name}"
            for kind in type(own).__mro__:  # slots are named after the class that has them
                for name in getattr(kind, "__slots__", ()):
                    if getattr(own, name, None) is table:
                        return f"{kind.__qualname__}.{name}"
    return f"{type(table).__name__} of {[type(holder).__qualname__ for holder in holders]}"
