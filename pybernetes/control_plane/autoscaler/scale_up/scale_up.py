"""Which groups could make room for pods that have none, with how many nodes, and why others cannot. Pure."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from pybernetes.control_plane.autoscaler.cluster.cluster import Cluster
from pybernetes.control_plane.autoscaler.cluster.node_templates import Template
from pybernetes.control_plane.autoscaler.cluster.simulation import Simulation
from pybernetes.control_plane.autoscaler.provider import NodeGroup
from pybernetes.control_plane.autoscaler.scale_up import balancing, estimator
from pybernetes.control_plane.autoscaler.scale_up.balancing import Ratios, ScaleUp
from pybernetes.control_plane.autoscaler.scale_up.estimator import Equivalents, Option
from pybernetes.scheduling.columns import Ints
from pybernetes.scheduling.pods import Pod

BACKOFF = "in backoff after failed scale-up"
MAXIMUM = "max node group size reached"
NOT_READY = "not ready for scale-up"
MAX_NODES_TOTAL = "max total nodes in cluster reached"


class Limits(NamedTuple):
    """How large the cluster may become; 0 stands for any number of nodes."""

    nodes: int = 0
    cores: int = 320_000
    memory: int = 6_400_000 << 30
    nodes_at_once: int = 1000
    least_cores: int = 0
    least_memory: int = 0


class Size(NamedTuple):
    """How large the cluster is, machines that are on their way included."""

    nodes: int
    cores: int  # thousandths
    memory: int  # bytes


class Candidate(NamedTuple):
    """A group that could grow, or why it cannot."""

    group: NodeGroup
    target: int
    template: Template | None
    skipped: str = ""


@dataclass
class Findings:
    """The ways to make room, and for each set of pods that are alike how many groups refuse it for which reason."""

    options: list[Option] = field(default_factory=list)
    refusals: list[tuple[Equivalents, Counter[str]]] = field(default_factory=list)
    fits: dict[str, set[str]] = field(
        default_factory=dict
    )  # by group: the uids of pods that an empty node takes


def room(candidate: Candidate, size: Size, limits: Limits) -> tuple[int, str]:
    """Return how many nodes a group may get, and why none if it is none."""
    if candidate.skipped or candidate.template is None:
        return 0, candidate.skipped or NOT_READY
    most = min(candidate.group.maximum - candidate.target, limits.nodes_at_once)
    if most <= 0:
        return 0, MAXIMUM
    if limits.nodes:
        most = min(most, limits.nodes - size.nodes)
        if most <= 0:
            return 0, MAX_NODES_TOTAL
    exceeded = []
    for name, limit, used, amount in (
        ("cpu", limits.cores * 1000, size.cores, candidate.template.cores),
        ("memory", limits.memory, size.memory, candidate.template.memory),
    ):
        by_resource = (limit - used) // amount if amount else math.inf
        if by_resource < 1:
            exceeded.append(name)
        most = int(min(most, max(0, by_resource)))
    if exceeded:
        return 0, f'exceeded quota: "cluster-wide", resources: {", ".join(exceeded)}'
    return most, ""


def find(
    cluster: Cluster, pending: Sequence[Equivalents], candidates: Sequence[Candidate], size: Size, limits: Limits,
    seconds: float = 10.0, seconds_in_all: float = 300.0,
) -> Findings:  # fmt: skip
    """Return how each group could make room for pods, by the rules of the scheduler; groups for which no time is left are left out."""
    deadline = time.monotonic() + seconds_in_all
    findings = Findings(refusals=[(group, Counter()) for group in pending])
    open_candidates: list[tuple[Candidate, int]] = []
    for candidate in candidates:
        most, reason = room(candidate, size, limits)
        if most:
            open_candidates.append((candidate, most))
        else:
            for _, reasons in findings.refusals:
                reasons[reason] += 1
    taken = _taken(cluster, [candidate.template for candidate, _ in open_candidates], findings)
    with Simulation(cluster) as simulation:
        for candidate, most in open_candidates:
            groups = taken[candidate.group.id]
            assert candidate.template is not None
            findings.fits[candidate.group.id] = {pod.uid for group in groups for pod in group}
            left = deadline - time.monotonic()
            if groups and left > 0:
                option = estimator.estimate(simulation, candidate.template, groups, most, min(seconds, left))
                if option.nodes and option.pods:
                    findings.options.append(option)
    return findings


def _taken(
    cluster: Cluster, templates: Sequence[Template | None], findings: Findings
) -> dict[str, list[Equivalents]]:
    """Return which pods an empty node of each group takes; why others are refused is counted."""
    there = [template for template in templates if template is not None]
    result: dict[str, list[Equivalents]] = {template.group: [] for template in there}
    with Simulation(cluster) as simulation:
        complicated = []
        for template in there:
            _set_up(simulation, template)
        rows = np.array([simulation.snapshot.rows[template.node.name] for template in there], dtype=np.intp)
        order = np.argsort(rows)
        for group, reasons in findings.refusals:
            if not simulation.is_plain(group[0]):
                complicated.append((group, reasons))
                continue
            for position, why in enumerate(_refusals(simulation, group[0], rows[order])):
                template = there[order[position]]
                if why:
                    reasons.update(why)
                else:
                    result[template.group].append(group)
    # What depends on other nodes too must not see the nodes of several groups at once.
    for template in there if complicated else ():
        with Simulation(cluster) as simulation:
            _set_up(simulation, template)
            for group, reasons in complicated:
                why = simulation.reasons(group[0], template.node.name)
                if why:
                    reasons.update(why)
                else:
                    result[template.group].append(group)
    return result


def _set_up(simulation: Simulation, template: Template) -> None:
    simulation.set_node(template.node)
    template.place_daemons(simulation, template.node.name)


def _refusals(simulation: Simulation, pod: Pod, rows: Ints) -> list[tuple[str, ...]]:
    """Return why a pod cannot be on each of some rows."""
    result: list[tuple[str, ...]] = [()] * len(rows)
    for plugin in simulation.cluster.cycle(pod).active(pod).filters:
        codes = plugin.filter(pod, rows)
        for position in np.flatnonzero(codes):
            if not result[position]:
                result[position] = plugin.reasons(pod, int(codes[position]))
    return result


def message(reasons: Counter[str]) -> str:
    """Return why pods did not trigger a scale-up, as an event says it."""
    if reasons and set(reasons) == {MAX_NODES_TOTAL}:
        return MAX_NODES_TOTAL
    return ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))


def expansions(
    option: Option, candidates: Sequence[Candidate], findings: Findings, size: Size, limits: Limits,
    similar: tuple[Ratios, Sequence[str], Sequence[str]] | None,
) -> list[ScaleUp]:  # fmt: skip
    """Return what groups are to grow for an option; ``similar`` is how groups that share its nodes are told, if they do."""
    by_id = {candidate.group.id: candidate for candidate in candidates}
    chosen = [by_id[option.group]]
    if similar is not None:
        ratios, ignored, only = similar
        wanted = {pod.uid for pod in option.pods}
        for candidate in candidates:
            if (
                candidate.group.id != option.group
                and candidate.template is not None
                and room(candidate, size, limits)[0]
                and wanted <= findings.fits.get(candidate.group.id, set())
                and balancing.similar(option.template, candidate.template, ratios, ignored, only)
            ):
                chosen.append(candidate)
    groups = [
        ScaleUp(candidate.group.id, candidate.target, candidate.target, candidate.group.maximum)
        for candidate in chosen
    ]
    return balancing.balance(groups, option.nodes)
