"""One pod from its beginning to its end: looks, decides, acts, reports, and does so again when something changed.

syncing ──(deleted, evicted, has run its course)──▶ terminating ──▶ terminated ──(deleted)──▶ gone
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from enum import Enum
from typing import Any

from pybernetes.client import Conflict, NotFound, StatusError
from pybernetes.client.refs import PODS
from pybernetes.lib import times
from pybernetes.node.kubelet.context import Context
from pybernetes.node.kubelet.cri.client import CriError
from pybernetes.node.kubelet.cri.keys import fingerprint
from pybernetes.node.kubelet.cri.read import pod_runtime, with_runs, with_sandbox
from pybernetes.node.kubelet.durations import text
from pybernetes.node.kubelet.environment import ConfigError
from pybernetes.node.kubelet.executor import Executor, StartFailed
from pybernetes.node.kubelet.images import ImageError
from pybernetes.node.kubelet.plan import Actions, Kill, Probed, Start, plan
from pybernetes.node.kubelet.probes.manager import LIVENESS, READINESS, STARTUP
from pybernetes.node.kubelet.resize import Allocation, needs_restart, with_resources
from pybernetes.node.kubelet.resources import linux
from pybernetes.node.kubelet.state import PodRuntime, State
from pybernetes.node.kubelet.status import ENDED, Facts, is_static, pod_status
from pybernetes.node.kubelet.statuses import Statuses
from pybernetes.node.kubelet.volumes import VolumeError

log = logging.getLogger(__name__)
Fields = dict[str, Any]
_RETRY_FIRST, _RETRY_LONGEST = 1.0, 60.0
_AT_ONCE = 0.0


class Phase(Enum):
    """Where a pod is in its life on the node."""

    SYNCING = "syncing"
    TERMINATING = "terminating"
    TERMINATED = "terminated"
    GONE = "gone"


class Worker:
    """The life of one pod. ``finished`` is called when nothing is left of it."""

    def __init__(
        self, context: Context, statuses: Statuses, pod: Fields, finished: Callable[[str], None]
    ) -> None:
        self.context, self.statuses = context, statuses
        self._allocation = Allocation(pod)
        self.wanted = pod  # … and ``pod`` has the resources that it was given
        self.pod = with_resources(pod, self._allocation.allocated)
        self.uid: str = pod["metadata"]["uid"]
        self.phase = Phase.SYNCING
        self.runtime = PodRuntime(self.uid)
        self._finished = finished
        self._executor = Executor(context)
        self._poked = asyncio.Event()
        self._waiting: dict[str, tuple[str, str]] = {}
        self._verdict: tuple[str, str] | None = None
        self._disruption = ""
        self.removed = False  # the API server does not have it any more
        self._grace: float | None = None
        self._failures = 0
        self._sandbox_config: Any = None
        self._made: list[str] | None = None  # the runs that were started, if nothing else was done
        self._admitted = False
        self._step: asyncio.Task[float | None] | None = None
        self.run_ended: dict[str, asyncio.Event] = {}  # for those who follow logs
        self._task = asyncio.create_task(self._run(), name=f"pod {self.uid}")

    # -- what others tell --------------------------------------------------------------------------------

    def poke(self) -> None:
        """Something changed: look again."""
        self._poked.set()

    def probed(self) -> None:
        """A probe has a new result; whoever asks for a pod that ends is told at once, since the end may be far."""
        if self.phase is Phase.TERMINATING:
            self._report()
        else:
            self.poke()

    def update(self, pod: Fields) -> None:
        """The pod changed; what became of its status alone is our own doing and no reason to look again."""
        before, self.wanted = self.wanted, pod
        self.pod = with_resources(pod, self._allocation.allocated)
        if pod["metadata"].get("deletionTimestamp"):
            self._end(float(pod["metadata"].get("deletionGracePeriodSeconds") or 0))
        if concerns(before) != concerns(pod):
            self.poke()

    def remove(self) -> None:
        """The pod is not wanted here any more."""
        self.removed = True
        meta = self.pod["metadata"]
        if meta.get("deletionTimestamp"):
            self._end(float(meta.get("deletionGracePeriodSeconds") or 0))
        else:
            self._end(None)
        self.poke()

    def fail(self, reason: str, message: str, grace: float | None = None, disruption: str = "") -> None:
        """Has the pod end as failed, for pressure on the node or a deadline; ``disruption`` says that it was us."""
        if self._verdict is None:
            self._verdict = (reason, message)
            self._disruption = disruption
        self._end(grace)
        self.poke()

    def _end(self, grace: float | None) -> None:
        shorter = grace is not None and (self._grace is None or grace < self._grace)
        if self.phase is Phase.SYNCING:
            self.phase, self._grace = Phase.TERMINATING, grace
        elif self.phase is Phase.TERMINATING and shorter:
            self._grace = grace
        else:
            return
        # Whatever is under way (a long pull, a longer grace period) is overtaken by this.
        if self._step is not None:
            self._step.cancel()

    async def close(self) -> None:
        """Stops caring; the containers go on."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    # -- the loop ----------------------------------------------------------------------------------------

    async def _run(self) -> None:
        while not self.gone:
            self._poked.clear()
            self._step = asyncio.create_task(self._sync(), name=f"sync {self.uid}")
            delay: float | None
            try:
                delay = await self._step
                self._failures = 0
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if task is not None and task.cancelling():
                    self._step.cancel()
                    raise
                continue
            except (CriError, VolumeError, StatusError, OSError, ConfigError) as error:
                log.warning("pod %s: %s", self.name, error)
                delay = self._retry_delay()
            except Exception:
                log.exception("pod %s", self.name)
                delay = self._retry_delay()
            finally:
                self._step = None
            if not self.gone:
                await self._wait(delay)
        self._finished(self.uid)

    def _retry_delay(self) -> float:
        self._failures += 1
        return min(_RETRY_LONGEST, _RETRY_FIRST * 2 ** min(self._failures - 1, 10))

    async def _wait(self, seconds: float | None) -> None:
        timer = self.context.clock.call_later(seconds, self._poked.set) if seconds is not None else None
        try:
            await self._poked.wait()
        finally:
            if timer is not None:
                timer.cancel()

    @property
    def gone(self) -> bool:
        """Whether nothing is left of it."""
        return self.phase is Phase.GONE

    @property
    def cleaned(self) -> bool:
        """Whether nothing of it takes memory, processes or local disk any more."""
        return self.phase in (Phase.TERMINATED, Phase.GONE)

    @property
    def name(self) -> str:
        """The pod's name for people."""
        return f"{self.pod['metadata']['namespace']}/{self.pod['metadata']['name']}"

    async def _look(self) -> None:
        self.runtime = await pod_runtime(self.context.cri, self.uid, self.runtime)
        for run in self.runtime.runs:
            ended = self.run_ended.get(run.id)
            if ended is not None and run.state is not State.RUNNING:
                ended.set()

    async def _look_after(self) -> None:
        """Looks at what was done: if that is runs that were started, at these alone."""
        if not self._made:
            await self._look()
            return
        try:
            self.runtime = await with_runs(self.context.cri, self.runtime, self._made)
        except CriError:
            await self._look()

    async def _sync(self) -> float | None:
        await self._look()
        while self.phase is Phase.SYNCING:
            delay = await self._sync_running()
            if delay != _AT_ONCE:
                return delay
        if self.phase is Phase.TERMINATING:
            await self._terminate()
        if self.phase is Phase.TERMINATED:
            await self._clean_up()
        return None

    # -- running -----------------------------------------------------------------------------------------

    def addresses(self) -> tuple[str, ...]:
        """The pod's addresses."""
        if self.pod["spec"].get("hostNetwork"):
            return self.context.addresses
        sandbox = self.runtime.sandbox
        return sandbox.addresses if sandbox is not None else ()

    def _facts(self, ended: bool = False) -> Facts:
        results = self.context.probes.results
        return Facts(
            now=self.context.clock.now(),
            runtime_name=self.context.runtime_name,
            host=self.context.addresses,
            waiting=self._waiting,
            ready=results[READINESS],
            started=results[STARTUP],
            restarting=any(
                each["type"] == "AllContainersRestarting" and each["status"] == "True"
                for each in self._previous().get("conditions", ())
            ),
            ended=ended,
            verdict=self._verdict,
            disruption=self._disruption,
            resize=() if ended else self._allocation.conditions(self.pod, self.runtime),
            in_force=self._allocation.shown(self.runtime),
        )

    def _previous(self) -> Fields:
        return self.statuses.get(self.uid) or self.pod.get("status", {})

    def _report(self, ended: bool = False) -> Fields:
        before = self._previous()
        status = pod_status(self.pod, self.runtime, before, self._facts(ended))
        created = self.pod["metadata"].get("creationTimestamp")
        if created and before.get("phase") == "Pending" and status["phase"] == "Running":
            took = self.context.clock.now() - times.parse(created)
            self.context.counts.observe("kubelet_pod_start_total_duration_seconds", took)
        self.statuses.set(self.pod, status)
        return status

    async def _sync_running(self) -> float | None:
        context = self.context
        if not self._admitted:
            refusal = context.admit(self.pod) if not self.runtime.sandboxes else None
            if refusal is not None:
                context.event(self.pod, "Warning", refusal[0], refusal[1])
                self.fail(*refusal, grace=0)
                return None
            self._admitted = True
        if context.objects is not None:
            context.objects.register(self.pod)
        self._consider_resize()
        self._probe()
        status = self._report()
        if status["phase"] in ENDED:
            self._end(None)
            self.poke()
            return None
        overdue = self._deadline(status)
        if overdue is not None and overdue <= 0:
            text_ = "Pod was active on the node longer than the specified deadline"
            context.event(self.pod, "Normal", "DeadlineExceeded", text_)
            self.fail("DeadlineExceeded", text_)
            return None
        if not self.pod["spec"].get("hostNetwork"):
            problem = context.network_ready()
            if problem and self.runtime.sandbox is None:
                context.event(self.pod, "Warning", "NetworkNotReady", f"network is not ready: {problem}")
                return self._retry_delay()
        probed = Probed(context.probes.results[LIVENESS], context.probes.results[STARTUP])
        prints = {each["name"]: fingerprint(each) for each in self.pod["spec"].get("containers", ())}
        actions = plan(self.pod, self.runtime, probed, prints)
        delays = [overdue] if overdue is not None else []
        if actions:
            again = await self._act(actions)
            await self._look_after()
            if await self._executor.prune(self.runtime):
                await self._look()
            self._probe()
            self._report()
            if again is None:
                return _AT_ONCE  # what was seen is still fresh: there may be more to do, and mostly is not
            delays.append(again)
        else:
            await self._refresh()
            resized = await self._resize()
            if resized is not None:
                delays.append(resized)
        stale = context.volumes.refresh_delay(self.pod)
        if stale is not None:
            delays.append(stale)
        return min(delays) if delays else None

    @property
    def deferred(self) -> bool:
        """Whether the pod waits for resources that others have."""
        return self._allocation.pending is not None

    def _consider_resize(self) -> None:
        context, allocation = self.context, self._allocation
        before = allocation.pending
        node = context.node().get("status", {}).get("allocatable", {})
        if allocation.consider(self.wanted, self.runtime, node, context.others(self.uid)):
            self.pod = with_resources(self.wanted, allocation.allocated)
        elif allocation.pending is not None and allocation.pending != before:
            reason, message = allocation.pending
            context.event(self.pod, "Warning", f"Resize{reason}", f"Pod resize {reason}: {message}")

    async def _resize(self) -> float | None:
        """Puts changed resources in force; gives when to try again what did not go well."""
        context, allocation = self.context, self._allocation
        due = allocation.due(self.pod, self.runtime)
        if not due:
            return None
        # A pod's own limits are never below those of its containers while these change.
        context.cgroups.limit(self.pod, widen=True)
        for run, container, changed in due:
            if needs_restart(container, changed):
                message = f"Container {container['name']} resize requires restart"
                found = next(each for each in self.runtime.running if each.id == run)
                await self._kill(Kill(found, "", message))
                allocation.in_force.pop(run, None)
                self.poke()
                continue
            resources = linux(
                self.pod, container, context.settings.memory_capacity, cfs_quota=context.settings.cfs_quota
            )
            try:
                await context.cri.update_container_resources(run, resources)
            except CriError as error:
                allocation.problem = error.message
                context.event(self.pod, "Warning", "ResizeError", f"Pod resize error: {error.message}")
                self._report()
                return 10.0
            allocation.in_force[run] = allocation.allocated[container["name"]]
        allocation.problem = ""
        context.cgroups.limit(self.pod)
        context.event(self.pod, "Normal", "ResizeCompleted", "Pod resize completed")
        self._report()
        return None

    def _probe(self, ending: bool = False) -> None:
        previous = self._previous()
        said = {
            each["name"]: each
            for key in ("initContainerStatuses", "containerStatuses")
            for each in previous.get(key, ())
        }
        addresses = self.addresses()
        if addresses:
            self.context.probes.follow(self.pod, self.runtime, addresses[0], said=said, ending=ending)

    async def _refresh(self) -> None:
        if self.runtime.running:
            await self.context.volumes.refresh(self.pod)

    def _deadline(self, status: Fields) -> float | None:
        seconds = self.pod["spec"].get("activeDeadlineSeconds")
        if seconds is None or not status.get("startTime"):
            return None
        return times.parse(status["startTime"]) + seconds - self.context.clock.now()

    async def _act(self, actions: Actions) -> float | None:
        """Does what the plan says; gives when to look again, None for at once."""
        context = self.context
        self._made = None if actions.kill or actions.kill_pod or actions.reset else []
        if actions.reset:
            for run in actions.reset:
                await self._executor.reset(self.pod, run)
            await self._look()
            return None
        if actions.kill_pod:
            if self.runtime.running or any(each.ready for each in self.runtime.sandboxes):
                await self._executor.stop_pod(self.pod, self.runtime, None, self.addresses())
                await self._look()
            if not actions.create_sandbox:
                return _RETRY_LONGEST
        for kill in actions.kill:
            await self._kill(kill)
        starts = list(actions.start)
        if not starts and not actions.create_sandbox:
            return None
        starts, waits = self._due(starts)
        if not starts and not actions.create_sandbox:
            return waits
        folder = context.volumes.folder(self.uid)
        folder.mkdir(parents=True, exist_ok=True)
        parent = context.cgroups.create(self.pod)
        try:
            mounted = await context.volumes.mount(self.pod)
        except VolumeError as error:
            context.event(self.pod, "Warning", error.reason, error.message)
            raise
        if actions.create_sandbox:
            try:
                self._sandbox_config = self._executor.sandbox_config(
                    self.pod, self.runtime.next_attempt, parent
                )
            except ValueError as error:
                context.event(self.pod, "Warning", "FailedCreatePodSandBox", str(error))
                raise ConfigError(str(error)) from None
            made = await self._executor.create_sandbox(self.pod, self._sandbox_config)
            self.runtime = await with_sandbox(context.cri, self.runtime, made)
            if self.runtime.sandbox is None:
                raise CriError("INTERNAL", "the sandbox ended as soon as it was started")
            self._report()
        if self._sandbox_config is None:
            attempt = max(0, self.runtime.next_attempt - 1)
            self._sandbox_config = self._executor.sandbox_config(self.pod, attempt, parent)
        for start in starts:
            waits = _sooner(waits, await self._start(start, mounted))
        return waits

    def _due(self, starts: list[Start]) -> tuple[list[Start], float | None]:
        """The containers that may start now; the others wait after they have crashed."""
        context, now = self.context, self.context.clock.now()
        due: list[Start] = []
        waits: float | None = None
        for start in starts:
            name = start.container["name"]
            run = self.runtime.run(name)
            if run is None or run.state is not State.EXITED:
                due.append(start)
                continue
            key = (self.uid, name, fingerprint(start.container))
            left = context.backoff.remaining(key, run.finished, now)
            if left <= 0:
                context.backoff.next(key, run.finished, now)
                due.append(start)
                continue
            meta = self.pod["metadata"]
            delay = text(context.backoff.delay(key))
            pod_name = f"{meta['name']}_{meta['namespace']}({self.uid})"
            message = f"back-off {delay} restarting failed container={name} pod={pod_name}"
            if (
                self._waiting.get(name, ("", ""))[0] != "CrashLoopBackOff"
                or self._waiting[name][1] != message
            ):
                context.event(
                    self.pod, "Warning", "BackOff",
                    f"Back-off restarting failed container {name} in pod {pod_name}", start.container,
                )  # fmt: skip
            self._waiting[name] = ("CrashLoopBackOff", message)
            waits = _sooner(waits, left)
        return due, waits

    async def _start(self, start: Start, mounted: Any) -> float | None:
        """Starts a container; gives when to try again if that fails."""
        name = start.container["name"]
        try:
            made = await self._executor.start(
                self.pod, start, self.runtime, self._sandbox_config, mounted, self.addresses()
            )
        except ImageError as error:
            self._made = None
            self._waiting[name] = (error.reason, error.message)
            self._report()
            return error.retry or _RETRY_FIRST * 10
        except StartFailed as error:
            self._made = None
            self._waiting[name] = (error.reason, error.message)
            self._report()
            # What failed while it ran waits after a crash; a definition that cannot be met waits for another.
            ran = error.reason in ("PostStartHookError", "RunContainerError")
            return _RETRY_FIRST if ran else _RETRY_FIRST * 10
        self._waiting.pop(name, None)
        if self._made is not None:
            self._made.append(made)
        return None

    async def _kill(self, kill: Kill) -> None:
        run = kill.run
        groups = ("initContainers", "containers", "ephemeralContainers")
        containers = (each for group in groups for each in self.pod["spec"].get(group, ()))
        container = next((each for each in containers if each["name"] == run.name), None)
        grace = float(self.pod["spec"].get("terminationGracePeriodSeconds") or 0)
        if container is not None and kill.reason in (LIVENESS, STARTUP):
            own = container.get(f"{kill.reason}Probe", {}).get("terminationGracePeriodSeconds")
            grace = float(own) if own is not None else grace
        self.context.event(
            self.pod, "Normal", "Killing", kill.message or f"Stopping container {run.name}", container
        )
        await self._executor.stop_run(self.pod, container, run.id, grace, self.addresses())
        await self._look()

    # -- ending ------------------------------------------------------------------------------------------

    async def _terminate(self) -> None:
        context = self.context
        self._probe(ending=True)
        self._report()
        await self._executor.stop_pod(self.pod, self.runtime, self._grace, self.addresses())
        await self._look()
        if self.runtime.running:
            raise CriError("INTERNAL", f"containers still run: {[run.name for run in self.runtime.running]}")
        context.probes.stop(self.uid)
        self._report(ended=True)
        self.phase = Phase.TERMINATED
        await context.volumes.unmount(self.uid)
        context.cgroups.remove(self.pod)
        if context.objects is not None:
            context.objects.unregister(self.uid)

    async def _clean_up(self) -> None:
        """A pod that has ended stays for its logs until it is deleted; then nothing of it is kept."""
        deleted = bool(self.pod["metadata"].get("deletionTimestamp"))
        if not deleted and not self.removed:
            return
        context = self.context
        if deleted and not self.removed and context.client is not None and not is_static(self.pod):
            await self.statuses.flush(self.uid)
            meta = self.pod["metadata"]
            try:
                await context.client.delete(PODS, meta["name"], meta["namespace"], uid=self.uid, grace=0)
            except (NotFound, Conflict):
                pass  # gone, or another pod has its name by now
        await self._executor.remove(self.pod, self.runtime)
        await context.volumes.unmount(self.uid)
        context.cgroups.remove(self.pod)
        context.images.forget(self.uid)
        context.probes.forget(self.uid)
        context.backoff.forget(self.uid)
        self.statuses.forget(self.uid)
        self.phase = Phase.GONE


def concerns(pod: Fields) -> tuple[Any, ...]:
    """What of a pod makes a difference to how it is run: not what this kubelet says about it."""
    meta, spec = pod["metadata"], pod["spec"]
    gates = {each["conditionType"] for each in spec.get("readinessGates", ())}
    conditions = pod.get("status", {}).get("conditions", ()) if gates else ()
    return (
        {key: value for key, value in meta.items() if key not in ("resourceVersion", "managedFields")},
        spec,
        [each for each in conditions if each["type"] in gates],
    )


def _sooner(first: float | None, second: float | None) -> float | None:
    if first is None or second is None:
        return first if second is None else second
    return min(first, second)
