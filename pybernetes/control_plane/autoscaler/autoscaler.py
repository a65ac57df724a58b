"""The loop: looks at the cloud and at the cluster, adds nodes or removes them, and says what it did."""

from __future__ import annotations

import argparse
import asyncio
import logging
import random
from collections import Counter

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import AlreadyExists, NotFound, StatusError
from pybernetes.client.refs import CONFIG_MAPS
from pybernetes.control_plane.autoscaler import flags, status
from pybernetes.control_plane.autoscaler.backoff import Backoffs
from pybernetes.control_plane.autoscaler.cluster.cluster import Cluster
from pybernetes.control_plane.autoscaler.cluster.cluster_state import ClusterState
from pybernetes.control_plane.autoscaler.cluster.following import Follower
from pybernetes.control_plane.autoscaler.cluster.groups import Groups
from pybernetes.control_plane.autoscaler.liveness import Liveness
from pybernetes.control_plane.autoscaler.metrics import AutoscalerMetrics
from pybernetes.control_plane.autoscaler.provider import CloudError, CloudProvider
from pybernetes.control_plane.autoscaler.provisioning.provisioning import Provisioning
from pybernetes.control_plane.autoscaler.repairs import Repairs
from pybernetes.control_plane.autoscaler.scale_down.actuator import Actuator
from pybernetes.control_plane.autoscaler.scale_down.scale_down import Planner, Removable, chosen
from pybernetes.control_plane.autoscaler.scale_up import expander
from pybernetes.control_plane.autoscaler.scale_up.scale_up_pass import ScaleUpPass
from pybernetes.lib.clock import Clock
from pybernetes.runtime.events import Recorder, Sender
from pybernetes.scheduling.config import Configuration

log = logging.getLogger(__name__)
NAME = "cluster-autoscaler"


class Autoscaler:
    """One autoscaler. ``options`` are its parsed flags. ``run`` works until it is cancelled."""

    def __init__(
        self,
        client: Client,
        cloud: CloudProvider,
        options: argparse.Namespace,
        *,
        configuration: Configuration | None = None,
        clock: Clock | None = None,
        chance: random.Random | None = None,
    ) -> None:
        self.client, self.cloud, self.options = client, cloud, options
        self.settings = flags.check(options)
        self.clock = clock or Clock()
        self.metrics = AutoscalerMetrics(options.emit_per_nodegroup_metrics)
        self.cluster = Cluster(configuration, self.settings.taints, self.settings.schedulers)
        self.groups = Groups(cloud, self.settings.options)
        backoffs = Backoffs(
            options.initial_node_group_backoff_duration,
            options.max_node_group_backoff_duration,
            options.node_group_backoff_reset_timeout,
        )
        self.state = ClusterState(backoffs, self.settings.health, options.max_node_startup_time)
        self._sender = Sender(client, self.clock)
        self.recorder = Recorder(client, NAME, clock=self.clock, sender=self._sender)
        self.provisioning = Provisioning(self) if options.enable_provisioning_requests else None
        self.follower = Follower(
            client, self.cluster, namespace=options.namespace, clock=self.clock, wake=self._wake_up, change=self._changed,
            set_request=self.provisioning.set if self.provisioning is not None else None,
        )  # fmt: skip
        self.planner = Planner(self.cluster, self.settings.down)
        self.actuator = Actuator(
            client, cloud, self.cluster, self.recorder, self.settings.removal, self.clock, self._removed, self.report,
            lambda result: self.metrics.count("evicted_pods_total", result),
        )  # fmt: skip
        self.repairs = Repairs(self)
        self.scale_up = ScaleUpPass(self, expander.chain(options.expander), chance or random.Random())
        self._status = status.Status()
        self._status_object: Object | None = None
        self.liveness = Liveness(
            self.clock, options.max_inactivity, options.max_failing_time, options.max_startup_time
        )
        self._wake = asyncio.Event()
        self._dirty = asyncio.Event()
        self._woken = 0.0
        # Moments by the wall clock after which nodes may be removed again: of a group, or of all (an empty name).
        self._pauses: dict[str, float] = {}

    # -- when to work ------------------------------------------------------------------------------------

    def _wake_up(self) -> None:
        self._wake.set()
        self._dirty.set()

    def _changed(self) -> None:
        self._dirty.set()

    def check(self) -> str | None:
        """Return what is not known yet, for the readiness page."""
        return self.follower.check()

    async def run(self) -> None:
        """Run until cancelled."""
        async with self.follower.following():
            try:
                await self.repairs.clean_up()
                while True:
                    self._wake.clear()
                    self._dirty.clear()
                    again = await self._pass_safely()
                    await self._pause(again)
            finally:
                await self.actuator.close()
                await self._sender.close()

    async def _pass_safely(self) -> float:
        """Run a pass; return how many seconds it is until there is something to do, if nothing happens before."""
        started, success = self.clock.monotonic(), False
        self.liveness.began()
        try:
            again = await self.run_once()
            success = True
            return again
        except CloudError as error:
            self.metrics.count("errors_total", "cloudProviderError")
            log.warning("the cloud does not answer: %s", error)
        except (StatusError, OSError) as error:
            self.metrics.count("errors_total", "apiCallError")
            log.warning("a pass failed: %s", error)
        finally:
            self.liveness.ended(success)
            self.metrics.took("main", self.clock.monotonic() - started)
        return self.options.scan_interval

    async def _pause(self, again: float) -> None:
        """Wait until a pod finds no room or a node comes or goes; with less reason no longer than the interval."""
        interval = float(self.options.scan_interval)
        waking = asyncio.ensure_future(self._wake.wait())
        sleeping = asyncio.ensure_future(
            self.clock.sleep(min(again, interval)) if again < float("inf") else self._idle(interval)
        )
        try:
            await asyncio.wait((waking, sleeping), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (waking, sleeping):
                task.cancel()
            await asyncio.gather(waking, sleeping, return_exceptions=True)

    async def _idle(self, interval: float) -> None:
        """Sleep until anything changes at all, and then for an interval: it may not be the only change."""
        await self._dirty.wait()
        await self.clock.sleep(interval)

    # -- a pass ------------------------------------------------------------------------------------------

    async def run_once(self) -> float:
        """Look at everything once and act; return the seconds until the next time that something is due."""
        await self._ensure_status()
        await self.groups.refresh(self.cluster.nodes, self.clock.now())
        now = self.clock.now()
        await self.repairs.act(self.state.update(self.groups.states, self.groups.nodes, now), now)
        self.metrics.gauges = self._gauges()
        if not self.state.is_healthy():
            self.report("Warning", "ClusterUnhealthy", "Cluster is unhealthy")
            await self._write_status(now, needed=bool(self.cluster.pending))
            return self.options.scan_interval
        if self.cluster.nodes or self.options.scale_up_from_zero:
            await self.repairs.enforce_minimum(now)
            if self.provisioning is not None:
                await self.provisioning.refresh(now)
            outcome = await self.scale_up.run(now)
            if self.provisioning is not None:
                outcome = await self.provisioning.run(now, outcome)
        else:
            outcome = self.scale_up.nothing()
        next_removal = await self._scale_down(now, outcome.grew)
        await self._write_status(now, needed=outcome.waiting)
        if outcome.again:
            return 0.0
        deadline = min(
            self.state.next_deadline(self.groups.states, now),
            self.state.backoffs.next_end(now) if outcome.waiting else float("inf"),
            outcome.next_time,
            next_removal,
        )
        if outcome.waiting or self.actuator.going or self.state.requests:
            return max(0.05, min(deadline - now, self.options.scan_interval))
        return max(0.05, deadline - now)

    def rest(self, group: str, seconds: float) -> None:
        """Remove no nodes for a while: none of a group, if a flag says so, or none at all."""
        name = group if self.options.scale_down_delay_type_local else ""
        self._pauses[name] = max(self._pauses.get(name, 0.0), self.clock.now() + seconds)

    async def _scale_down(self, now: float, grew: bool) -> float:
        """Remove what is not needed any more; return when the next node may go."""
        if not self.options.scale_down_enabled:
            return float("inf")
        started = self.clock.monotonic()
        self._pauses = {name: until for name, until in self._pauses.items() if until > now}
        resting = self._pauses.keys() - {""}
        plan = self.planner.update(
            self.groups.states,
            self.groups.group_by_node,
            list(self.actuator.going),
            now,
            self.groups.contested,
            resting,
        )
        self.metrics.took("findUnneeded", self.clock.monotonic() - started)
        resumes = self._pauses.get("", 0.0)
        self.metrics.gauges["scale_down_in_cooldown", ""] = float(resumes > now or grew)
        self.metrics.gauges["unneeded_nodes_count", ""] = len(plan.unneeded)
        if grew:
            return now + self.options.scan_interval if plan.unneeded else float("inf")
        due, next_time = self.planner.due(self.groups.states, self.actuator.by_group(), now)
        for reason, count in Counter(plan.unremovable.values()).items():
            self.metrics.gauges["unremovable_nodes_count", reason] = count
        if resumes > now:
            return resumes if plan.unneeded else float("inf")
        await self.actuator.mark({removable.node for removable in plan.unneeded})
        going, draining = len(self.actuator.going), self.actuator.draining
        removals = chosen(
            due, going, draining, self.options.max_scale_down_parallelism, self.options.max_drain_parallelism
        )
        for removable in removals:
            self.actuator.start(removable)
        next_time = min([next_time, *(self._pauses[name] for name in resting)])
        if len(removals) < len(due):
            next_time = min(next_time, now + self.options.scan_interval)
        return next_time

    def _removed(self, removable: Removable, problem: str) -> None:
        """Note the end of a removal."""
        now = self.clock.now()
        if problem:
            self.rest(removable.group, self.options.scale_down_delay_after_failure)
            self.planner.failed(removable.node, now)
        else:
            self.rest(removable.group, self.options.scale_down_delay_after_delete)
            self.planner.since.pop(removable.node, None)
            reason = "empty" if removable.empty else "underutilized"
            self.metrics.count("scaled_down_nodes_total", reason)
        self._changed()
        self._wake_up()

    # -- what others see ---------------------------------------------------------------------------------

    def report(self, kind: str, reason: str, text: str) -> None:
        """Report an event about the autoscaler itself, on its ConfigMap."""
        log.info("%s: %s", reason, text)
        if self._status_object is not None:
            self.recorder.event(
                {"kind": "ConfigMap", "apiVersion": "v1", **self._status_object}, kind, reason, text
            )

    async def _ensure_status(self) -> None:
        if self.options.write_status_configmap and self._status_object is None:
            await self._store(
                {"time": status.moment_text(self.clock.now()), "autoscalerStatus": "Initializing"}
            )

    async def _write_status(self, now: float, needed: bool) -> None:
        self.metrics.groups.clear()
        for name, group in self.groups.states.items():
            backoff = self.state.backoffs.of(name, now) is not None
            self.metrics.groups.update(
                {
                    ("node_group_min_count", name): group.group.minimum,
                    ("node_group_max_count", name): group.group.maximum,
                    ("node_group_target_count", name): group.target,
                    ("node_group_healthiness", name): float(self.state.group_is_healthy(group)),
                    ("node_group_backoff_status", name): float(backoff),
                }
            )
        if self.options.write_status_configmap:
            candidates = Counter(removable.group for removable in self.planner.plan.unneeded)
            await self._store(self._status.make(self.state, self.groups.states, candidates, needed, now))

    async def _store(self, made: Object) -> None:
        name, namespace = self.options.status_config_map_name, self.options.namespace
        annotations = {status.LAST_UPDATED: made["time"]}
        body = {"metadata": {"name": name, "namespace": namespace, "annotations": annotations},
                "data": {"status": status.text(made)}}  # fmt: skip
        try:
            self._status_object = await self.client.patch(CONFIG_MAPS, name, body, namespace)
        except NotFound:
            await self._create_status(body)
        except (StatusError, OSError) as error:  # nodes are no less needed for it
            log.warning("the status cannot be written: %s", error)

    async def _create_status(self, body: Object) -> None:
        try:
            self._status_object = await self.client.create(CONFIG_MAPS, body)
        except AlreadyExists:
            pass
        except (StatusError, OSError) as error:
            log.warning("the status cannot be written: %s", error)

    def _gauges(self) -> dict[tuple[str, str], float]:
        total, limits = self.state.total, self.settings.limits
        cores, memory = self.cluster.totals(
            name for name, node in self.cluster.nodes.items() if not node.deleting
        )
        return {
            ("cluster_safe_to_autoscale", ""): float(self.state.is_healthy()),
            ("nodes_count", "ready"): total.ready,
            ("nodes_count", "unready"): total.unready,
            ("nodes_count", "notStarted"): total.not_started,
            ("nodes_count", "unregistered"): total.unregistered,
            ("nodes_count", "longUnregistered"): total.long_unregistered,
            ("node_groups_count", "autoscaled"): len(self.groups.states),
            ("unschedulable_pods_count", "unschedulable"): len(self.cluster.pending),
            **{("node_taints_count", kind): count for kind, count in self._taints().items()},
            ("max_nodes_count", ""): limits.nodes,
            ("cluster_cpu_current_cores", ""): cores // 1000,
            ("cpu_limits_cores", "minimum"): limits.least_cores,
            ("cpu_limits_cores", "maximum"): limits.cores,
            ("cluster_memory_current_bytes", ""): memory,
            ("memory_limits_bytes", "minimum"): limits.least_memory,
            ("memory_limits_bytes", "maximum"): limits.memory,
            ("last_activity", "main"): int(self.clock.now()),
            ("pending_node_deletions", ""): len(self.actuator.going),
        }

    def _taints(self) -> Counter[str]:
        """Return how many taints of each kind the nodes have."""
        return Counter(
            self.cluster.taints.kind(taint.get("key", ""))
            for node in self.cluster.nodes.values()
            for taint in node.taints
        )
