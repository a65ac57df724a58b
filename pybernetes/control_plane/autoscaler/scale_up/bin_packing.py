"""How many nodes of one kind some pods need, if nothing but amounts decides: first fit, the largest pods first. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

Amounts = Sequence[tuple[int, int]]  # pairs of resource number and amount


class Item(NamedTuple):
    """Some pods that ask for the same."""

    amounts: Amounts
    pods: int


class Packing(NamedTuple):
    """How many nodes are needed, and how many pods of each item they take."""

    nodes: int
    placed: list[int]


@dataclass
class _Alike:
    """Nodes with the same room left."""

    free: dict[int, int]
    slots: int
    count: int

    def takes(self, amounts: Amounts) -> int:
        """Return how many pods one of these nodes takes."""
        most = self.slots
        for resource, amount in amounts:
            most = min(most, self.free.get(resource, 0) // amount)
        return max(0, most)

    def filled(self, amounts: Amounts, pods: int, count: int) -> _Alike:
        """Return some of these nodes, each with so many pods more."""
        free = dict(self.free)
        for resource, amount in amounts:
            free[resource] = free.get(resource, 0) - amount * pods
        return _Alike(free, self.slots - pods, count)


def pack(free: Mapping[int, int], slots: int, items: Sequence[Item], limit: int) -> Packing:
    """Put items onto nodes that each have some room free, one item after the other, on at most ``limit`` nodes."""
    nodes: list[_Alike] = []
    used, placed = 0, []
    for amounts, count in items:
        left = count
        before, nodes = nodes, []
        for alike in before:
            left = _fill(alike, amounts, left, nodes)
        fresh = _Alike(dict(free), slots, limit - used)
        per_node = fresh.takes(amounts)
        if left and per_node and fresh.count:
            fresh.count = min(fresh.count, -(-left // per_node))
            used += fresh.count
            left = _fill(fresh, amounts, left, nodes)
        placed.append(count - left)
    return Packing(used, placed)


def _fill(alike: _Alike, amounts: Amounts, left: int, nodes: list[_Alike]) -> int:
    """Put pods onto nodes that are alike; return how many are left."""
    per_node = alike.takes(amounts)
    whole = min(alike.count, left // per_node) if per_node else 0
    if whole:
        nodes.append(alike.filled(amounts, per_node, whole))
        left -= whole * per_node
    rest = alike.count - whole
    if rest and per_node and left:
        nodes.append(alike.filled(amounts, left, 1))
        rest, left = rest - 1, 0
    if rest:
        nodes.append(_Alike(alike.free, alike.slots, rest))
    return left
