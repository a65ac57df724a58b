"""Makes room for pods that have none: asks what groups could do, chooses, and has the cloud do it."""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from pybernetes.api.resource import Object
from pybernetes.control_plane.autoscaler.cluster import node_templates
from pybernetes.control_plane.autoscaler.cluster.cluster import Capacity
from pybernetes.control_plane.autoscaler.cluster.groups import GroupState
from pybernetes.control_plane.autoscaler.cluster.node_templates import Template
from pybernetes.control_plane.autoscaler.cluster.pod_records import PodRecord
from pybernetes.control_plane.autoscaler.cluster.simulation import Simulation
from pybernetes.control_plane.autoscaler.provider import CloudError
from pybernetes.control_plane.autoscaler.scale_up import estimator, expander, scale_up
from pybernetes.control_plane.autoscaler.scale_up.balancing import ScaleUp
from pybernetes.control_plane.autoscaler.scale_up.estimator import Equivalents, Option
from pybernetes.control_plane.autoscaler.scale_up.expander import Best, Context
from pybernetes.control_plane.autoscaler.scale_up.scale_up import BACKOFF, NOT_READY, Candidate, Size
from pybernetes.lib import rfc3339
from pybernetes.lib.flags import duration
from pybernetes.scheduling.nodes import Node
from pybernetes.scheduling.pods import Pod

if TYPE_CHECKING:
    from pybernetes.control_plane.autoscaler.autoscaler import Autoscaler

log = logging.getLogger(__name__)
_NEVER = float("inf")


class Outcome(NamedTuple):
    """What became of a pass: whether nodes were added, whether pods wait, whether to go on at once."""

    grew: bool = False
    waiting: bool = False
    again: bool = False
    next_time: float = _NEVER


class ScaleUpPass:
    """The part of an autoscaler that adds nodes."""

    def __init__(self, autoscaler: Autoscaler, chain: Sequence[Best], chance: random.Random) -> None:
        self._autoscaler, self._chain, self._chance = autoscaler, chain, chance
        self._templates: dict[str, tuple[tuple[object, ...], Template]] = {}
        self._told: dict[str, str] = {}  # pods that cannot be helped, and what was said about it

    def nothing(self) -> Outcome:
        """Return the outcome of doing nothing."""
        return Outcome(waiting=bool(self._autoscaler.cluster.pending))

    async def run(self, now: float) -> Outcome:
        """Make room for the pods that have none."""
        own = self._autoscaler
        pods, next_time = self.pending(now)
        self._told = {uid: text for uid, text in self._told.items() if uid in own.cluster.by_uid}
        if not pods:
            return Outcome(next_time=next_time)
        started = own.clock.monotonic()
        candidates = await self.candidates(now)
        with Simulation(own.cluster) as simulation:
            self.prepare(simulation, len(pods))
            left = self.without_room(simulation, pods)
        if not left:
            return Outcome(waiting=True, next_time=next_time)
        findings, size = self._find(left, candidates)
        option = await self._choose(findings)
        own.metrics.took("scaleUp", own.clock.monotonic() - started)
        if option is None:
            self._explain(findings.refusals)
            return Outcome(waiting=True, next_time=next_time)
        expansions = self._expansions(option, candidates, findings, size)
        grown = [expansion for expansion in expansions if await self._grow(expansion)]
        if not grown:
            return Outcome(waiting=True, again=True, next_time=next_time)
        text = f"pod triggered scale-up: [{' '.join(map(str, grown))}]"
        for pod in option.pods:
            own.recorder.normal(_about(pod), "TriggeredScaleUp", text)
        helped = {pod.uid for pod in option.pods}
        others = any(pod.uid not in helped for group in left for pod in group)
        return Outcome(grew=True, waiting=True, again=others, next_time=next_time)

    async def expand_for_all(self, left: list[Equivalents], candidates: Sequence[Candidate]) -> bool:
        """Add nodes of a group for all of some pods, or for none; return whether the cloud took it."""
        findings, size = self._find(left, candidates)
        count = sum(map(len, left))
        findings.options = [option for option in findings.options if len(option.pods) == count]
        option = await self._choose(findings)
        if option is None:
            return False
        expansions = self._expansions(option, candidates, findings, size)
        if sum(expansion.new - expansion.current for expansion in expansions) < option.nodes:
            return False
        for expansion in expansions:
            if not await self._grow(expansion):
                return False
        return True

    def _find(
        self, left: list[Equivalents], candidates: Sequence[Candidate]
    ) -> tuple[scale_up.Findings, Size]:
        """Return what groups could do for pods, and how large the cluster is."""
        own, size = self._autoscaler, self._size(candidates)
        times = own.options.max_nodegroup_binpacking_duration, own.options.max_binpacking_time
        findings = scale_up.find(own.cluster, left, candidates, size, own.settings.limits, *times)
        if own.settings.limits.nodes and size.nodes >= own.settings.limits.nodes:
            text = f"Max total nodes in cluster reached: {own.settings.limits.nodes}"
            own.report("Warning", "MaxNodesTotalReached", text)
        return findings, size

    async def _choose(self, findings: scale_up.Findings) -> Option | None:
        own = self._autoscaler
        context = Context(
            own.cloud, len(own.cluster.nodes), own.follower.priorities, self._warn, self._chance
        )
        return await expander.choose(self._chain, findings.options, context)

    def _expansions(
        self, option: Option, candidates: Sequence[Candidate], findings: scale_up.Findings, size: Size
    ) -> list[ScaleUp]:
        own, similar = self._autoscaler, None
        if own.options.balance_similar_node_groups:
            similar = own.settings.ratios, own.options.balancing_ignore_label, own.options.balancing_label
        return scale_up.expansions(option, candidates, findings, size, own.settings.limits, similar)

    async def _grow(self, expansion: ScaleUp) -> bool:
        state = self._autoscaler.groups.states[expansion.group]
        return await self.grow(state, expansion.new - expansion.current)

    def pending(self, now: float) -> tuple[list[Pod], float]:
        """Return the pods that matter, the oldest first, and when the next one is old enough to."""
        own = self._autoscaler
        records: list[PodRecord] = []
        next_time = _NEVER
        for record in own.cluster.pending.values():
            if record.pod.priority < own.options.expendable_pods_priority_cutoff or record.pod.gates:
                continue
            if record.pod.nominated and record.pod.nominated in own.cluster.nodes:
                continue  # room is being made for it by others' leaving
            if record.consumes and own.provisioning is not None:
                request = f"{record.pod.namespace}/{record.consumes}"
                self._tell(
                    record.pod,
                    "",
                    f"Unschedulable pod didn't trigger scale-up, because it's consuming ProvisioningRequest {request}",
                )
                continue
            due = (rfc3339.parse(record.created) if record.created else 0.0) + self._delay(record)
            if due > now:
                next_time = min(next_time, due)
            else:
                records.append(record)
        records.sort(key=lambda record: (-record.pod.priority, record.created))
        return [record.pod for record in records], next_time

    def _delay(self, record: PodRecord) -> float:
        delay = float(self._autoscaler.options.new_pod_scale_up_delay)
        if record.delay:
            try:
                delay = max(delay, float(duration(record.delay)))
            except ValueError:
                log.info("%s: its pod-scale-up-delay is no duration", record.pod.key)
        return delay

    def prepare(self, simulation: Simulation, wanted: int) -> None:
        """Imagine the nodes that are on their way, as far as so many pods can use them, and the pods that room is kept for."""
        own = self._autoscaler
        wanted += sum(map(len, own.cluster.bookings))
        for name, node in own.cluster.nodes.items():
            before = own.groups.nodes.get(name)
            if not node.deleting and not (node.ready and before is not None and before.ready):
                simulation.remove_node(
                    name
                )  # it counted as one that is on its way when the pass began, if it is
        for state in own.groups.states.values():
            known = self._templates.get(state.id)
            if known is None:
                continue
            for number in range(min(own.state.upcoming(state), wanted)):  # more are of no use to them
                name = f"upcoming-{number}-{state.id}"
                simulation.set_node(known[1].named(name))
                known[1].place_daemons(simulation, name)
        simulation.book()

    def without_room(self, simulation: Simulation, pods: Sequence[Pod]) -> list[Equivalents]:
        """Return the pods that find no room even on nodes that are there by now or on their way; others have theirs then."""
        left = []
        for group in estimator.equivalence_groups(pods):
            rest = group[simulation.settle(group) :]
            if rest:
                left.append(rest)
        return left

    # -- groups ------------------------------------------------------------------------------------------

    async def candidates(self, now: float) -> list[Candidate]:
        own = self._autoscaler
        result = []
        for state in own.groups.states.values():
            template = await self._template(state)
            skipped = ""
            if own.state.backoffs.of(state.id, now) is not None:
                skipped = BACKOFF
            elif template is None or not own.state.group_is_healthy(state):
                skipped = NOT_READY
            result.append(Candidate(state.group, state.target, template, skipped))
        return result

    async def _template(self, state: GroupState) -> Template | None:
        """Return what a new node of a group would be: like one that is ready, or as the cloud says."""
        own = self._autoscaler
        node: tuple[Node, Capacity] | None = None
        for name in state.nodes:
            sample = own.groups.nodes[name]
            if sample.ready and not sample.deleting:
                node = node_templates.from_node(sample, state.id, own.cluster.taints)
                break
        if node is None:
            obj = await own.groups.template(state.id)
            known = self._templates.get(state.id)
            if obj is not None:
                node = self._described(obj, state)
            elif known is not None:  # all of its nodes are gone, but what they were is known
                node = known[1].node, known[1].capacity
        if node is None:
            return None
        sets = own.cluster.listers.all("daemonsets")
        key = (node, *(daemon["metadata"].get("resourceVersion") for daemon in sets))
        known = self._templates.get(state.id)
        if known is None or known[0] != key:
            known = self._templates[state.id] = (
                key,
                node_templates.template(own.cluster, state.id, node, sets),
            )
        return known[1]

    def _described(self, obj: Object, state: GroupState) -> tuple[Node, Capacity] | None:
        try:
            return node_templates.from_object(self._autoscaler.cluster, obj, state.id)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            log.warning("the cloud's template of %s cannot be read: %r", state.id, error)
            return None

    def _size(self, candidates: Sequence[Candidate]) -> Size:
        own = self._autoscaler
        there = [name for name, node in own.cluster.nodes.items() if not node.deleting]
        nodes = len(there)
        cores, memory = own.cluster.totals(there)
        for candidate in candidates:
            state = own.groups.states[candidate.group.id]
            coming = max(0, state.target - len([name for name in state.nodes if name in own.cluster.nodes]))
            nodes += coming
            if candidate.template is not None:
                cores += coming * candidate.template.cores
                memory += coming * candidate.template.memory
        return Size(nodes, cores, memory)

    async def grow(self, state: GroupState, increase: int) -> bool:
        """Have the cloud add machines to a group; a group that cannot is left alone for a while."""
        own = self._autoscaler
        sizes = f"{state.target + increase} instead of {state.target} (max: {state.group.maximum})"
        own.report("Normal", "ScaledUpGroup", f"Scale-up: setting group {state.id} size to {sizes}")
        try:
            await own.cloud.increase(state.id, increase)
        except CloudError as error:
            own.report("Warning", "FailedToScaleUpGroup", f"Scale-up failed for group {state.id}: {error}")
            own.metrics.count("failed_scale_ups_total", "cloudProviderError")
            text = f"failed to increase node group size: {error}"
            own.state.backoffs.fail(state.id, "cloudProviderError", text, own.clock.now())
            return False
        own.report("Normal", "ScaledUpGroup", f"Scale-up: group {state.id} size set to {sizes}")
        own.metrics.count("scaled_up_nodes_total", amount=increase)
        state.target += increase
        own.rest(state.id, own.options.scale_down_delay_after_add)
        # From now on, and not since the pass began: a slow cloud takes nothing off the time that machines have.
        own.state.request(state, increase, own.clock.now())
        return True

    # -- what others see ---------------------------------------------------------------------------------

    def _explain(self, refusals: Sequence[tuple[Equivalents, Counter[str]]]) -> None:
        """Say of pods that cannot be helped why; once, until the reason changes."""
        for group, reasons in refusals:
            text = f"pod didn't trigger scale-up: {scale_up.message(reasons)}"
            for pod in group:
                self._tell(pod, "NotTriggerScaleUp", text)

    def _tell(self, pod: Pod, reason: str, text: str) -> None:
        if self._told.get(pod.uid) != text:
            self._told[pod.uid] = text
            self._autoscaler.recorder.normal(_about(pod), reason, text)

    def _warn(self, reason: str, text: str) -> None:
        priorities = self._autoscaler.follower.priorities
        if priorities is not None:
            about = {"kind": "ConfigMap", "apiVersion": "v1", **priorities}
            self._autoscaler.recorder.warning(about, reason, text)


def _about(pod: Pod) -> Object:
    meta = {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid, "resourceVersion": pod.version}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": meta}
