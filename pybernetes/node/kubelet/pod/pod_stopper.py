"""Stops the containers of pods, and removes what is left of them."""

from __future__ import annotations

import asyncio
import logging

import orjson

from pybernetes.api.core.pod.pod_level_resources import is_restartable
from pybernetes.api.resource import Object
from pybernetes.lib.files import trees
from pybernetes.node.kubelet.containers import logs
from pybernetes.node.kubelet.context import Context
from pybernetes.node.kubelet.cri import specs
from pybernetes.node.kubelet.cri.client import ignore_missing
from pybernetes.node.kubelet.cri.pod_runtime import ContainerRun, ContainerState, PodRuntime
from pybernetes.node.kubelet.pod import lifecycle_hooks

log = logging.getLogger(__name__)
_LEAST_GRACE = 2.0
_LONGEST_GRACE = 10 * 365 * 86400.0  # a pod may ask for longer than deadlines of calls can be


class PodStopper:
    """Stops containers and pods on the runtime, and removes them."""

    def __init__(self, context: Context) -> None:
        self.context = context

    async def stop_run(
        self,
        pod: Object,
        container: Object | None,
        run: str,
        grace: float,
        addresses: tuple[str, ...],
        hook: Object | None = None,
        turn: asyncio.Event | None = None,
    ) -> None:
        """Stop a container: preStop hook, its turn in the order, its stop signal, and in the end SIGKILL."""
        context = self.context
        began = context.clock.monotonic()
        grace = min(grace, _LONGEST_GRACE)

        def left() -> float:
            return grace - (context.clock.monotonic() - began)

        if container is not None and hook is None:
            hook = (container.get("lifecycle") or {}).get("preStop")
        if hook and grace > 0:
            address = addresses[0] if addresses else ""
            try:
                async with asyncio.timeout(grace):
                    await lifecycle_hooks.run(
                        context.cri, context.clock, hook, container or {"name": ""}, run, address
                    )
            except TimeoutError:
                pass
            except Exception as error:  # whatever became of the hook, the container is stopped
                if not isinstance(error, lifecycle_hooks.HookFailed):
                    log.exception("the preStop hook of %s", run)
                context.event(pod, "Warning", "FailedPreStopHook", "PreStopHook failed", container)
        if turn is not None and left() > 0:
            try:
                async with asyncio.timeout(left()):
                    await turn.wait()
            except TimeoutError:
                pass
        await ignore_missing(context.cri.stop_container(run, max(_LEAST_GRACE, left())))

    async def reset(self, pod: Object, run: ContainerRun) -> None:
        """Remove a run at once, because all containers of its pod start again; its log stays."""
        if run.state is ContainerState.RUNNING:
            container = next(
                (container for group in ("containers", "initContainers") for container in pod["spec"].get(group, ())
                 if container["name"] == run.name), None,
            )  # fmt: skip
            self.context.event(pod, "Normal", "Killing", f"Stopping container {run.name}", container)
            await ignore_missing(self.context.cri.stop_container(run.id, 0))
        await ignore_missing(self.context.cri.remove_container(run.id))

    async def stop_pod(
        self, pod: Object, runtime: PodRuntime, grace: float | None, addresses: tuple[str, ...]
    ) -> None:
        """Stop all containers of a pod, sidecars last and in reverse order, and its sandboxes."""
        spec = pod["spec"]
        usual = float(spec.get("terminationGracePeriodSeconds") or 0)
        seconds = usual if grace is None else grace
        known = {
            container["name"]: container
            for group in ("initContainers", "containers", "ephemeralContainers")
            for container in spec.get(group, ())
        }
        order = [
            container["name"]
            for container in reversed(spec.get("initContainers", ()))
            if is_restartable(container)
        ]
        done: dict[str, asyncio.Event] = {run.name: asyncio.Event() for run in runtime.running}
        turns = {name: asyncio.Event() for name in order if name in done}
        # One task for all: were each sidecar to wait for those before it, a pod with many would hold up the node.
        giver = asyncio.create_task(_give_turns(turns, done))

        async def stop(run: ContainerRun) -> None:
            container = known.get(run.name)
            hook = orjson.loads(run.pre_stop) if container is None and run.pre_stop else None
            self.context.event(pod, "Normal", "Killing", f"Stopping container {run.name}", container)
            try:
                await self.stop_run(pod, container, run.id, seconds, addresses, hook, turns.get(run.name))
            finally:
                done[run.name].set()

        try:
            results = await asyncio.gather(*(stop(run) for run in runtime.running), return_exceptions=True)
        finally:
            giver.cancel()
        for result in results:
            if isinstance(result, BaseException):
                raise result
        for sandbox in runtime.sandboxes:
            if sandbox.ready:
                await ignore_missing(self.context.cri.stop_pod_sandbox(sandbox.id))

    async def remove(self, pod: Object, runtime: PodRuntime) -> None:
        """Remove what the runtime has of a pod that is gone, and its logs."""
        for run in runtime.runs:
            await ignore_missing(self.context.cri.remove_container(run.id))
        for sandbox in runtime.sandboxes:
            await ignore_missing(self.context.cri.stop_pod_sandbox(sandbox.id))
            await ignore_missing(self.context.cri.remove_pod_sandbox(sandbox.id))
        folder = specs.log_folder(self.context.settings.logs, pod)
        try:
            await asyncio.to_thread(trees.remove_path, folder)
        except OSError as error:
            log.warning("the logs %s cannot be removed: %s", folder, error)

    async def prune(self, runtime: PodRuntime) -> bool:
        """Remove ended runs beyond those that are kept, and sandboxes without runs; return whether there were any."""
        count: dict[str, int] = {}
        old: list[ContainerRun] = []
        for run in runtime.runs:
            count[run.name] = count.get(run.name, 0) + 1
            if (
                count[run.name] > 1 + self.context.settings.dead_runs
                and run.state is not ContainerState.RUNNING
            ):
                old.append(run)
        for run in old:
            await ignore_missing(self.context.cri.remove_container(run.id))
            logs.remove(run.log_path)
        kept = {run.sandbox for run in runtime.runs if run not in old}
        stale = [sandbox for sandbox in runtime.sandboxes[1:] if not sandbox.ready and sandbox.id not in kept]
        for sandbox in stale:
            await ignore_missing(self.context.cri.stop_pod_sandbox(sandbox.id))
            await ignore_missing(self.context.cri.remove_pod_sandbox(sandbox.id))
        return bool(old or stale)


async def _give_turns(turns: dict[str, asyncio.Event], done: dict[str, asyncio.Event]) -> None:
    """Give each sidecar its turn when all that is no sidecar, and every sidecar before it, has been stopped."""
    for name, stopped in done.items():
        if name not in turns:
            await stopped.wait()
    for name, turn in turns.items():
        turn.set()
        await done[name].wait()
