"""One round of a pod that is to run: admits it, creates its sandbox, starts and stops containers, resizes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pybernetes.api.resource import Object
from pybernetes.lib import rfc3339
from pybernetes.node.kubelet.backoff import duration_text
from pybernetes.node.kubelet.cri.client import CriError
from pybernetes.node.kubelet.cri.container_resources import container_resources
from pybernetes.node.kubelet.cri.label_keys import fingerprint
from pybernetes.node.kubelet.cri.messages import Message
from pybernetes.node.kubelet.cri.pod_runtime import ContainerState
from pybernetes.node.kubelet.images.image_puller import ImageError
from pybernetes.node.kubelet.pod import start_steps
from pybernetes.node.kubelet.pod.allocation import needs_restart, with_resources
from pybernetes.node.kubelet.pod.plan import Actions, Kill, Probed, Start, plan
from pybernetes.node.kubelet.pod.pod_starter import PodStarter, StartFailed
from pybernetes.node.kubelet.pod.pod_stopper import PodStopper
from pybernetes.node.kubelet.pod.pod_view import PodView
from pybernetes.node.kubelet.pod_kinds import shown
from pybernetes.node.kubelet.probes.probe_manager import LIVENESS, STARTUP
from pybernetes.node.kubelet.status.status_inputs import ENDED
from pybernetes.node.kubelet.volumes.errors import VolumeError
from pybernetes.node.kubelet.volumes.volume_kind import MountedVolume

AT_ONCE = 0.0
RETRY_FIRST, RETRY_LONGEST = 1.0, 60.0
# Ends the pod: as failed with a reason and a message, or (None) because it has run its course; with a grace period.
End = Callable[[tuple[str, str] | None, float | None], None]


class PodSync:
    """Makes a pod match its definition. ``end`` is called to end the pod, ``again`` to have another round."""

    def __init__(
        self, view: PodView, starter: PodStarter, stopper: PodStopper, end: End, again: Callable[[], None]
    ) -> None:
        self.view, self.context = view, view.context
        self._starter, self._stopper, self._end, self._again = starter, stopper, end, again
        self._sandbox_config: Message | None = None
        self._made: list[str] | None = None  # the runs that were started, None if something else was done
        self._admitted = False

    async def sync(self) -> float | None:
        """Do one round; return the seconds until the next, None to wait for a change."""
        context = self.context
        if not self._admitted:
            refusal = context.admit(self.view.pod) if not self.view.runtime.sandboxes else None
            if refusal is not None:
                context.event(self.view.pod, "Warning", refusal[0], refusal[1])
                self._end(refusal, 0)
                return None
            self._admitted = True
        if context.objects is not None:
            context.objects.register(self.view.pod)
        self._consider_resize()
        self.view.probe()
        status = self.view.report()
        if status["phase"] in ENDED:
            self._end(None, None)
            return None
        overdue = self._deadline(status)
        if overdue is not None and overdue <= 0:
            message = "Pod was active on the node longer than the specified deadline"
            context.event(self.view.pod, "Normal", "DeadlineExceeded", message)
            self._end(("DeadlineExceeded", message), None)
            return None
        if not self.view.pod["spec"].get("hostNetwork"):
            problem = context.network_problem()
            if problem and self.view.runtime.sandbox is None:
                context.event(self.view.pod, "Warning", "NetworkNotReady", f"network is not ready: {problem}")
                return RETRY_FIRST
        probed = Probed(context.probes.results[LIVENESS], context.probes.results[STARTUP])
        prints = {
            container["name"]: fingerprint(container)
            for container in self.view.pod["spec"].get("containers", ())
        }
        actions = plan(self.view.pod, self.view.runtime, probed, prints)
        delays = [overdue] if overdue is not None else []
        if actions:
            again = await self._act(actions)
            if self._made:
                await self.view.refresh_runs(self._made)
            else:
                await self.view.refresh()
            if await self._stopper.prune(self.view.runtime):
                await self.view.refresh()
            self.view.probe()
            self.view.report()
            if again is None:
                return AT_ONCE  # there may be more to do, and mostly is not
            delays.append(again)
        else:
            await self._refresh()
            resized = await self._resize()
            if resized is not None:
                delays.append(resized)
        stale = context.volumes.refresh_delay(self.view.pod)
        unwatched = context.objects.refresh_delay(self.view.uid) if context.objects is not None else None
        delays += [delay for delay in (stale, unwatched) if delay is not None]
        return min(delays) if delays else None

    def _consider_resize(self) -> None:
        context, allocation = self.context, self.view.allocation
        before = allocation.pending
        node = context.node().get("status", {}).get("allocatable", {})
        if allocation.consider(self.view.wanted, self.view.runtime, node, context.other_pods(self.view.uid)):
            self.view.pod = with_resources(self.view.wanted, allocation.allocated)
        elif allocation.pending is not None and allocation.pending != before:
            reason, message = allocation.pending
            context.event(self.view.pod, "Warning", f"Resize{reason}", f"Pod resize {reason}: {message}")

    async def _resize(self) -> float | None:
        """Apply changed resources; return the seconds until what failed is tried again."""
        context, allocation = self.context, self.view.allocation
        due = allocation.due(self.view.pod, self.view.runtime)
        if not due:
            return None
        # A pod's own limits must not be below those of its containers while these change.
        await context.cgroups.run(context.cgroups.apply_limits, self.view.pod, widen=True)
        for run, container, changed in due:
            if needs_restart(container, changed):
                message = f"Container {container['name']} resize requires restart"
                running = next(candidate for candidate in self.view.runtime.running if candidate.id == run)
                await self._kill(Kill(running, "", message))
                allocation.in_force.pop(run, None)
                self._again()
                continue
            resources = container_resources(
                self.view.pod,
                container,
                context.settings.memory_capacity,
                cfs_quota=context.settings.cfs_quota,
                cfs_period=context.settings.cfs_period,
            )
            try:
                await context.cri.update_container_resources(run, resources)
            except CriError as error:
                allocation.problem = error.message
                context.event(self.view.pod, "Warning", "ResizeError", f"Pod resize error: {error.message}")
                self.view.report()
                return 10.0
            allocation.in_force[run] = allocation.allocated[container["name"]]
        allocation.problem = ""
        await context.cgroups.run(context.cgroups.apply_limits, self.view.pod)
        context.event(self.view.pod, "Normal", "ResizeCompleted", "Pod resize completed")
        self.view.report()
        return None

    async def _refresh(self) -> None:
        if self.view.runtime.running:
            await self.context.volumes.refresh(self.view.pod)

    def _deadline(self, status: Object) -> float | None:
        seconds = self.view.pod["spec"].get("activeDeadlineSeconds")
        if seconds is None or not status.get("startTime"):
            return None
        return rfc3339.parse(status["startTime"]) + seconds - self.context.clock.now()

    async def _act(self, actions: Actions) -> float | None:
        """Do what the plan says; return the seconds until the next round, None for at once."""
        context = self.context
        self._made = None if actions.kill or actions.kill_pod or actions.reset else []
        if actions.reset:
            for run in actions.reset:
                await self._stopper.reset(self.view.pod, run)
            await self.view.refresh()
            return None
        if actions.kill_pod:
            if self.view.runtime.running or any(sandbox.ready for sandbox in self.view.runtime.sandboxes):
                await self._stopper.stop_pod(self.view.pod, self.view.runtime, None, self.view.addresses())
                await self.view.refresh()
            if not actions.create_sandbox:
                return RETRY_LONGEST
        for kill in actions.kill:
            await self._kill(kill)
        starts = list(actions.start)
        if not starts and not actions.create_sandbox:
            return None
        starts, waits = self._due(starts)
        if not starts and not actions.create_sandbox:
            return waits
        folder = context.volumes.folder(self.view.uid)
        folder.mkdir(parents=True, exist_ok=True)
        parent = await context.cgroups.run(context.cgroups.create, self.view.pod)
        context.starts.reached(self.view.uid, start_steps.PREPARE)
        try:
            mounted = await context.volumes.mount(self.view.pod)
        except VolumeError as error:
            context.event(self.view.pod, "Warning", error.reason, error.message)
            raise
        context.starts.reached(self.view.uid, start_steps.VOLUMES)
        if actions.create_sandbox:
            self._sandbox_config = await self._starter.sandbox_config(
                self.view.pod, self.view.runtime.next_attempt, parent
            )
            made = await self._starter.create_sandbox(self.view.pod, self._sandbox_config)
            network = context.networks.made(made)
            context.starts.reached(self.view.uid, start_steps.SANDBOX, network=network)
            await self.view.refresh_sandbox(made)
            if self.view.runtime.sandbox is None:
                raise CriError("INTERNAL", "the sandbox ended as soon as it was started")
            self.view.report()
        if self._sandbox_config is None:
            attempt = max(0, self.view.runtime.next_attempt - 1)
            self._sandbox_config = await self._starter.sandbox_config(self.view.pod, attempt, parent)
        for start in starts:
            waits = _sooner(waits, await self._start(start, mounted))
        return waits

    def _due(self, starts: list[Start]) -> tuple[list[Start], float | None]:
        """Return the containers that may start now, and the seconds that the others still wait after a crash."""
        context, now = self.context, self.context.clock.now()
        due: list[Start] = []
        waits: float | None = None
        for start in starts:
            name = start.container["name"]
            run = self.view.runtime.run(name)
            if run is None or run.state is not ContainerState.EXITED:
                due.append(start)
                continue
            key = (self.view.uid, name, fingerprint(start.container))
            left = context.backoff.remaining(key, run.finished, now)
            if left <= 0:
                context.backoff.next(key, run.finished, now)
                due.append(start)
                continue
            delay = duration_text(context.backoff.delay(key))
            pod_name = shown(self.view.pod)
            message = f"back-off {delay} restarting failed container={name} pod={pod_name}"
            if (
                self.view.waiting.get(name, ("", ""))[0] != "CrashLoopBackOff"
                or self.view.waiting[name][1] != message
            ):
                context.event(
                    self.view.pod, "Warning", "BackOff",
                    f"Back-off restarting failed container {name} in pod {pod_name}", start.container,
                )  # fmt: skip
            self.view.waiting[name] = ("CrashLoopBackOff", message)
            waits = _sooner(waits, left)
        return due, waits

    async def _start(self, start: Start, mounted: Mapping[str, MountedVolume]) -> float | None:
        """Start a container; return the seconds until the next attempt if that fails."""
        name = start.container["name"]
        try:
            made = await self._starter.start(
                self.view.pod, start, self.view.runtime, self._sandbox_config, mounted, self.view.addresses()
            )
        except ImageError as error:
            self._made = None
            self.view.waiting[name] = (error.reason, error.message)
            self.view.report()
            return error.retry or RETRY_FIRST * 10
        except StartFailed as error:
            self._made = None
            self.view.waiting[name] = (error.reason, error.message)
            self.view.report()
            # What failed at run time backs off like a crash; a definition that cannot be met waits for a change.
            ran = error.reason in ("PostStartHookError", "RunContainerError")
            return RETRY_FIRST if ran else RETRY_FIRST * 10
        self.view.waiting.pop(name, None)
        if self._made is not None:
            self._made.append(made)
        return None

    async def _kill(self, kill: Kill) -> None:
        run = kill.run
        groups = ("initContainers", "containers", "ephemeralContainers")
        containers = (container for group in groups for container in self.view.pod["spec"].get(group, ()))
        container = next((container for container in containers if container["name"] == run.name), None)
        grace = float(self.view.pod["spec"].get("terminationGracePeriodSeconds") or 0)
        if container is not None and kill.reason in (LIVENESS, STARTUP):
            own = container.get(f"{kill.reason}Probe", {}).get("terminationGracePeriodSeconds")
            grace = float(own) if own is not None else grace
        self.context.event(
            self.view.pod, "Normal", "Killing", kill.message or f"Stopping container {run.name}", container
        )
        await self._stopper.stop_run(self.view.pod, container, run.id, grace, self.view.addresses())
        await self.view.refresh()


def _sooner(first: float | None, second: float | None) -> float | None:
    if first is None or second is None:
        return first if second is None else second
    return min(first, second)
