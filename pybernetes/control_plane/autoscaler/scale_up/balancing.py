"""Which groups are alike, and how new nodes are shared among them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from pybernetes.control_plane.autoscaler.cluster.node_templates import Template

# Labels in which nodes of similar groups differ.
IGNORED = frozenset(
    {
        "kubernetes.io/hostname", "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region",
        "topology.kubernetes.io/zone", "topology.kubernetes.io/region", "beta.kubernetes.io/fluentd-ds-ready",
        "kops.k8s.io/instancegroup", "pybernetes.dev/node-group",
    }
)  # fmt: skip


class Ratios(NamedTuple):
    """How much similar groups may differ."""

    memory: float = 0.015
    allocatable: float = 0.05
    free: float = 0.05


class ScaleUp(NamedTuple):
    """A group and the size that it is to have."""

    group: str
    current: int
    new: int
    maximum: int

    def __str__(self) -> str:
        return f"{{{self.group} {self.current}->{self.new} (max: {self.maximum})}}"


def similar(
    one: Template, other: Template, ratios: Ratios, ignored: Iterable[str] = (), only: Sequence[str] = ()
) -> bool:
    """Return whether nodes of two groups are alike; ``only`` are the labels that decide it alone."""
    if only:
        return all(
            key in one.node.labels and one.node.labels[key] == other.node.labels.get(key) for key in only
        )
    # Machines are to be of one kind: they differ in nothing but a little in their memory.
    left, right = dict(one.capacity.amounts), dict(other.capacity.amounts)
    if left.keys() != right.keys():
        return False
    for name, amount in left.items():
        if not _near(amount, right[name], ratios.memory if name == "memory" else 0.0):
            return False
    if not _near(one.node.allowed_pods, other.node.allowed_pods, ratios.allocatable):
        return False
    for mine, others, ratio in (
        (dict(one.node.allocatable), dict(other.node.allocatable), ratios.allocatable),
        (_free(one), _free(other), ratios.free),
    ):
        if mine.keys() != others.keys():
            return False
        if not all(_near(amount, others[resource], ratio) for resource, amount in mine.items()):
            return False
    skipped = IGNORED | frozenset(ignored)
    kept = (
        {key: value for key, value in made.node.labels.items() if key not in skipped} for made in (one, other)
    )
    return next(kept) == next(kept)


def _near(one: Fraction | int, other: Fraction | int, ratio: float) -> bool:
    return float(abs(one - other)) <= float(max(one, other)) * ratio


def _free(template: Template) -> dict[int, int]:
    free = dict(template.node.allocatable)
    for pod in template.daemons:
        for resource, amount in pod.requests.amounts:
            if resource in free:
                free[resource] -= amount
    return free


def balance(groups: Sequence[ScaleUp], count: int) -> list[ScaleUp]:
    """Share new nodes among groups so that they come to have the same size; those that get none are left out.

    ``new`` of what is given does not count.
    """
    sizes = {group.group: group.current for group in groups}
    room = {group.group: group.maximum for group in groups}
    for _ in range(count):
        open_groups = [name for name in sizes if sizes[name] < room[name]]
        if not open_groups:
            break
        sizes[min(open_groups, key=lambda name: sizes[name])] += 1
    return [group._replace(new=sizes[group.group]) for group in groups if sizes[group.group] > group.current]
