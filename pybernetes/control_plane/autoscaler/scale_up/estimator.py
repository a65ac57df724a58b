"""How many nodes of a group some pods need, and which of them they would take: binpacking by the scheduler's rules."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from pybernetes.control_plane.autoscaler.cluster.node_templates import Template
from pybernetes.control_plane.autoscaler.cluster.simulation import Simulation
from pybernetes.control_plane.autoscaler.scale_up import bin_packing
from pybernetes.control_plane.autoscaler.scale_up.bin_packing import Item
from pybernetes.scheduling.pods import Pod
from pybernetes.scheduling.resource_requests import CPU, MEMORY


class Option(NamedTuple):
    """A way to make room: so many nodes of a group would take these pods."""

    template: Template
    nodes: int
    pods: list[Pod]

    @property
    def group(self) -> str:
        """The group."""
        return self.template.group


Equivalents = list[Pod]  # pods that are alike, so that what is true of one is true of all


def equivalence_groups(pods: Iterable[Pod]) -> list[Equivalents]:
    """Return pods in groups of those that are alike; a pod that nothing controls is like no other."""
    groups: dict[object, Equivalents] = {}
    for pod in pods:
        key = (pod.shape, pod.requests) if pod.shape.owner is not None else pod.uid
        groups.setdefault(key, []).append(pod)
    return list(groups.values())


def by_size(groups: Iterable[Equivalents], template: Template) -> list[Equivalents]:
    """Return groups of pods with the largest pods first, by their share of a node's cores and memory."""

    amounts = dict(template.node.allocatable)

    def share(group: Equivalents) -> float:
        requests = group[0].requests
        return sum(
            requests.amount(resource) / amounts[resource] if amounts.get(resource) else 0.0
            for resource in (CPU, MEMORY)
        )

    return sorted(groups, key=share, reverse=True)


def estimate(
    simulation: Simulation,
    template: Template,
    groups: Sequence[Equivalents],
    limit: int,
    seconds: float = 10.0,
) -> Option:
    """Return how many nodes of a template groups of pods need, at most so many, each of which fits onto an empty node."""
    ordered = by_size(groups, template)
    if all(simulation.is_plain(group[0]) for group in ordered):
        return _by_amounts(template, ordered, limit)
    return _by_rules(simulation, template, ordered, limit, seconds)


def _by_amounts(template: Template, groups: Sequence[Equivalents], limit: int) -> Option:
    free = dict(template.node.allocatable)
    for pod in template.daemons:
        for resource, amount in pod.requests.amounts:
            free[resource] = free.get(resource, 0) - amount
    slots = template.node.allowed_pods - len(template.daemons)
    items = [Item(group[0].requests.amounts, len(group)) for group in groups]
    packing = bin_packing.pack(free, slots, items, limit)
    pods = [pod for group, count in zip(groups, packing.placed, strict=True) for pod in group[:count]]
    return Option(template, packing.nodes, pods)


def _by_rules(
    simulation: Simulation, template: Template, groups: Sequence[Equivalents], limit: int, seconds: float
) -> Option:
    """Put pod after pod onto new nodes, asking all of the scheduler's rules each time."""
    deadline = time.monotonic() + seconds
    mark = simulation.mark()
    names: list[str] = []
    placed: list[Pod] = []
    for group in groups:
        for pod in group:
            if time.monotonic() > deadline:
                break
            name = _first_fit(simulation, pod, names)
            if name is None and len(names) < limit:
                before = simulation.mark()
                name = _new_node(simulation, template, len(names))
                if simulation.reasons(pod, name):
                    simulation.undo(before)  # one more node is no help to it, nor to others like it
                    break
                names.append(name)
            if name is None:
                break
            simulation.place(pod, name)
            placed.append(pod)
    simulation.undo(mark)
    return Option(template, len(names), placed)


def _first_fit(simulation: Simulation, pod: Pod, names: list[str]) -> str | None:
    if not names:
        return None
    cycle = simulation.cluster.cycle(pod)
    rows = np.array(sorted(simulation.snapshot.rows[name] for name in names), dtype=np.intp)
    fits = np.ones(len(rows), dtype=np.bool_)
    for plugin in cycle.active(pod).filters:
        fits &= plugin.filter(pod, rows) == 0
    good = {int(row) for row in rows[fits]}
    return next((name for name in names if simulation.snapshot.rows[name] in good), None)


def _new_node(simulation: Simulation, template: Template, number: int) -> str:
    name = f"{template.node.name}-{number}"
    simulation.set_node(template.named(name))
    template.place_daemons(simulation, name)
    return name
