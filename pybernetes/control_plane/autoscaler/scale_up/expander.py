"""Chooses among ways to make room by a chain of expanders."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from pybernetes.api.resource import Object
from pybernetes.control_plane.autoscaler.provider import CloudProvider
from pybernetes.control_plane.autoscaler.scale_up.estimator import Option
from pybernetes.lib.discover import discover

PRIORITIES = "cluster-autoscaler-priority-expander"
Best = Callable[[Sequence[Option], "Context"], Awaitable[list[Option]]]
_PACKAGE = "pybernetes.control_plane.autoscaler.expanders"
_ABSENT = {"grpc": "expanders outside of this process are not supported"}


@dataclass
class Context:
    """What expanders may ask for."""

    cloud: CloudProvider
    nodes: int = 0  # how many there are
    priorities: Object | None = None  # the ConfigMap
    warn: Callable[[str, str], None] = lambda reason, text: None
    chance: random.Random = field(default_factory=random.Random)


def known() -> dict[str, Best]:
    """Return all expanders by name."""
    return {name.replace("_", "-"): best for name, best in discover(_PACKAGE, "best").items()}


def chain(names: str) -> list[Best]:
    """Return the expanders of a flag, in order; ValueError if one does not exist."""
    there = known()
    result = []
    for name in names.split(","):
        if name in _ABSENT:
            raise ValueError(f"--expander: {name}: {_ABSENT[name]}")
        if name not in there:
            raise ValueError(f"--expander: {name!r} is none of {', '.join(sorted(there))}")
        result.append(there[name])
    if len(set(names.split(","))) < len(result):
        raise ValueError(f"--expander: {names}: each expander can be given once")
    return result


async def choose(chain: Sequence[Best], options: Sequence[Option], context: Context) -> Option | None:
    """Return the best option; None if there is none."""
    left = list(options)
    for best in chain:
        if len(left) < 2:
            break
        left = await best(left, context) or left
    return context.chance.choice(left) if left else None
