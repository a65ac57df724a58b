"""Loops: what macros such as ``all``, ``map`` and ``transformMap`` do with each item."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pybernetes.api.cel import cost
from pybernetes.api.cel.runtime import Failure
from pybernetes.api.cel.work import Exceeded


class Frame:
    """One evaluation: the variables, and what it cost so far."""

    __slots__ = ("cost", "limit", "variables")

    def __init__(self, variables: dict[str, Any], limit: int) -> None:
        self.variables, self.limit, self.cost = variables, limit, 0


Step = Callable[[Frame], Any]


Items = Iterable[bool]
Loop = Callable[[Frame, Items], Any]


def bindings(variables: dict[str, Any], values: Any, first: str, second: str) -> Iterator[bool]:
    """Go through the items, and give the variables their values on the way."""
    if not isinstance(values, list | dict):
        raise Failure("no such overload")
    if not second:
        for item in values:
            variables[first] = item
            yield True
        return
    for key, value in enumerate(values) if isinstance(values, list) else values.items():
        variables[first] = key
        variables[second] = value
        yield True


def quantified(test: Step, absorbing: bool) -> Loop:
    """Evaluate ``all`` or ``exists``: the first item that decides ends the loop, whatever failed before."""
    per_item = 4 if absorbing else 3

    def run(frame: Frame, items: Items) -> bool:
        failed: Failure | None = None
        iterator = iter(items)
        for _ in iterator:
            frame.cost += per_item
            if frame.cost > frame.limit:
                raise Exceeded
            try:
                decision = test(frame)
            except Failure as error:
                failed = failed or error
                continue
            if decision is absorbing:
                # The next item is looked at before the loop ends.
                frame.cost += 1 + (per_item - 1 if next(iterator, None) is not None else 0)
                return absorbing
            if not isinstance(decision, bool):
                failed = failed or Failure("no such overload")
        frame.cost += 1
        if failed is not None:
            raise failed
        return not absorbing

    return run


def collected(test: Step | None, item: Step) -> Loop:
    """Evaluate ``map`` or ``filter``: a list that grows."""

    def run(frame: Frame, items: Items) -> list[Any]:
        collected_items: list[Any] = []
        frame.cost += cost.LIST + 1
        for _ in items:
            if test is not None:
                chosen = test(frame)
                if chosen is not True:
                    if chosen is not False:
                        raise Failure("no such overload")
                    frame.cost += 1
                    if frame.cost > frame.limit:
                        raise Exceeded
                    continue
            collected_items.append(item(frame))
            frame.cost += cost.LIST + 2
            if frame.cost > frame.limit:
                raise Exceeded
        return collected_items

    return run


def inserted(test: Step | None, parts: list[Step]) -> Loop:
    """Evaluate ``transformMap``: a map that grows."""

    def run(frame: Frame, items: Items) -> dict[Any, Any]:
        entries: dict[Any, Any] = {}
        frame.cost += cost.MAP + 1
        for _ in items:
            frame.cost += 2
            if frame.cost > frame.limit:
                raise Exceeded
            if test is not None and test(frame) is not True:
                continue
            made = [part(frame) for part in parts]
            added = made[0] if len(made) == 1 else {made[0]: made[1]}
            for key, value in added.items():
                if key in entries:
                    raise Failure(f"insert failed: key {key} already exists")
                entries[key] = value
        return entries

    return run
