"""Does what plans say: makes sandboxes, starts and stops containers, removes what is left."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from pybernetes.api.core.pod.pod_level_resources import is_restartable
from pybernetes.api.resource import Object
from pybernetes.client.refs import CONFIG_MAPS, RUNTIME_CLASSES, SECRETS
from pybernetes.node.kubelet.containers import etc_hosts, logs, resolv_conf
from pybernetes.node.kubelet.containers.environment import ConfigError, EnvironmentInputs, environment
from pybernetes.node.kubelet.context import Context
from pybernetes.node.kubelet.cri import label_keys, specs, start_limiter
from pybernetes.node.kubelet.cri.client import CriError
from pybernetes.node.kubelet.cri.pod_runtime import ContainerRun, ContainerState, PodRuntime
from pybernetes.node.kubelet.images.image_puller import ImageError, Report
from pybernetes.node.kubelet.object_cache import NotSynced, references
from pybernetes.node.kubelet.pod import lifecycle_hooks
from pybernetes.node.kubelet.pod.plan import Start
from pybernetes.node.kubelet.volumes.base import MOUNT_FAILED, ImageVolumeError, MountedVolume
from pybernetes.node.kubelet.volumes.container_mounts import container_mounts
from pybernetes.node.kubelet.volumes.image_volumes import mounted_images

Message = Any
_LEAST_GRACE = 2.0


class StartFailed(Exception):
    """A container could not be started; ``reason`` is what it waits for, ``retry`` when to try again."""

    def __init__(self, reason: str, message: str, retry: float = 0.0) -> None:
        super().__init__(message)
        self.reason, self.message, self.retry = reason, message, retry


class Executor:
    """Acts on the runtime for one pod at a time."""

    def __init__(self, context: Context) -> None:
        self.context = context

    # -- sandboxes ---------------------------------------------------------------------------------------

    def sandbox_config(self, pod: Object, attempt: int, cgroup_parent: str) -> Message:
        """Return the configuration of a pod's sandbox; record events about its DNS."""
        settings = self.context.settings
        resolv, warnings = resolv_conf.pod_resolv_conf(pod, settings.dns)
        for warning in warnings:
            if warning == "MissingClusterDNS":
                name = f"{pod['metadata']['name']}_{pod['metadata']['namespace']}({pod['metadata']['uid']})"
                text = f'pod: "{name}". kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.'
                self.context.event(pod, "Warning", "MissingClusterDNS", text)
            else:
                self.context.event(pod, "Warning", "DNSConfigForming", warning)
        return specs.sandbox_config(pod, attempt, cgroup_parent, settings, resolv)

    async def create_sandbox(self, pod: Object, config: Message) -> str:
        """Create a pod's sandbox; return its id."""
        specs.log_folder(self.context.settings.logs, pod).mkdir(parents=True, exist_ok=True)
        handler = await self._handler(pod)
        try:
            async with self.context.start_limiter.slot(start_limiter.SANDBOX):
                return await self.context.cri.run_pod_sandbox(config, handler)
        except CriError as error:
            text = f"Failed to create pod sandbox: rpc error: code = {_code(error)} desc = {error.message}"
            self.context.event(pod, "Warning", "FailedCreatePodSandBox", text)
            raise

    async def _handler(self, pod: Object) -> str:
        """Return the runtime's handler for a pod's RuntimeClass."""
        name = pod["spec"].get("runtimeClassName")
        if not name:
            return ""
        client = self.context.client
        if client is None:
            raise ConfigError(f'RuntimeClass "{name}" cannot be looked up without an API server')
        return (await client.get(RUNTIME_CLASSES, name)).get("handler", "")

    # -- containers --------------------------------------------------------------------------------------

    async def start(
        self,
        pod: Object,
        start: Start,
        runtime: PodRuntime,
        config: Message,
        mounted: Mapping[str, MountedVolume],
        addresses: tuple[str, ...],
    ) -> str:
        """Pull a container's image, create and start the container, run its postStart hook; return the run's id."""
        context, container = self.context, start.container
        sandbox = runtime.sandbox
        assert sandbox is not None

        def report(type_: str, reason: str, message: str) -> None:
            context.event(pod, type_, reason, message, container)

        try:
            images, image = await self._images(pod, container, config, report)
            variables, mounted_files = await self._prepare(pod, container, {**mounted, **images}, addresses)
            attempt = self._attempt(pod, start, runtime)
            definition = specs.container_config(
                pod, container, attempt, image, variables, mounted_files, context.settings,
                _target(start, runtime),
            )  # fmt: skip
            if images:
                definition.annotations[label_keys.IMAGE_VOLUMES] = ",".join(
                    volume.image.image for volume in images.values()
                )
        except (ConfigError, NotSynced, ValueError, OSError) as error:
            report("Warning", "Failed", f"Error: {error}")
            raise StartFailed("CreateContainerConfigError", str(error)) from None
        except ImageVolumeError as error:
            self._count_images(pod, container, str(error))
            report("Warning", "Failed", f"Error: {error}")
            raise StartFailed("CreateContainerError", str(error)) from None
        folder = specs.log_folder(context.settings.logs, pod) / container["name"]
        folder.mkdir(parents=True, exist_ok=True)
        try:
            async with context.start_limiter.slot(start_limiter.CREATE):
                run = await context.cri.create_container(sandbox.id, definition, config)
        except CriError as error:
            self._count_images(pod, container, error.message)
            report("Warning", "Failed", f"Error: {error.message}")
            raise StartFailed("CreateContainerError", error.message) from None
        self._count_images(pod, container)
        report("Normal", "Created", "Container created")
        try:
            async with context.start_limiter.slot(start_limiter.START):
                await context.cri.start_container(run)
        except CriError as error:
            report("Warning", "Failed", f"Error: {error.message}")
            kind = ("container_type", _TYPES[start.group])
            context.metrics.add("kubelet_started_containers_errors_total", kind, ("code", _code(error)))
            raise StartFailed("RunContainerError", error.message) from None
        report("Normal", "Started", "Container started")
        context.metrics.add("kubelet_started_containers_total", ("container_type", _TYPES[start.group]))
        if context.settings.log_links is not None:
            meta = pod["metadata"]
            where = folder / f"{attempt}.log"
            logs.link(
                context.settings.log_links, meta["name"], meta["namespace"], container["name"], run, where
            )
        hook = (container.get("lifecycle") or {}).get("postStart")
        if hook:
            await self._post_start(pod, container, run, hook, addresses)
        return run

    async def _post_start(
        self, pod: Object, container: Object, run: str, hook: Object, addresses: tuple[str, ...]
    ) -> None:
        context = self.context
        try:
            await lifecycle_hooks.run(
                context.cri, context.clock, hook, container, run, addresses[0] if addresses else ""
            )
        except lifecycle_hooks.HookFailed as error:
            context.event(pod, "Warning", "FailedPostStartHook", "PostStartHook failed", container)
            grace = float(pod["spec"].get("terminationGracePeriodSeconds") or 0)
            context.event(pod, "Normal", "Killing", "FailedPostStartHook", container)
            await self.stop_run(pod, container, run, grace, addresses)
            raise StartFailed("PostStartHookError", str(error)) from None

    async def _images(
        self, pod: Object, container: Object, config: Message, report: Report
    ) -> tuple[dict[str, MountedVolume], Message]:
        """Return the images that a container mounts, and its own."""
        context, secrets = self.context, await self._pull_secrets(pod)

        def report_volume(type_: str, reason: str, message: str) -> None:
            context.event(pod, type_, reason, message)

        try:
            mounted = await context.volumes.images.provide(pod, container, secrets, config, report_volume)
            return mounted, await context.images.ensure(
                pod["metadata"]["uid"], container["image"], container.get("imagePullPolicy", "IfNotPresent"),
                secrets, config, report,
            )  # fmt: skip
        except ImageError as error:
            report("Warning", "Failed", f"Error: {error.reason}")
            raise

    def _count_images(self, pod: Object, container: Object, failure: str = "") -> None:
        names = {volume["name"] for volume in mounted_images(pod, container)}
        if names:
            how = "errors" if failure.startswith(MOUNT_FAILED) else "succeed"
            mounted = sum(mount["name"] in names for mount in container.get("volumeMounts", ()))
            self.context.metrics.add("kubelet_image_volume_requested_total", by=len(names))
            self.context.metrics.add(f"kubelet_image_volume_mounted_{how}_total", by=mounted)

    async def _pull_secrets(self, pod: Object) -> list[Object]:
        objects = self.context.objects
        secrets = []
        for reference in pod["spec"].get("imagePullSecrets", ()):
            if objects is None or not reference.get("name"):
                continue
            try:
                secret = await objects.get(SECRETS, pod["metadata"]["namespace"], reference["name"])
            except NotSynced:
                continue
            if secret is None:
                text = f"Unable to retrieve some image pull secrets ({reference['name']}); attempting to pull the image may not succeed."
                self.context.event(pod, "Warning", "FailedToRetrieveImagePullSecret", text)
            else:
                secrets.append(secret)
        return secrets

    async def _prepare(
        self, pod: Object, container: Object, mounted: Mapping[str, MountedVolume], addresses: tuple[str, ...]
    ) -> tuple[dict[str, str], list[Message]]:
        context = self.context
        objects = context.objects
        fetched: dict[tuple[str, str], Object | None] = {}
        services: list[Object] = []
        if objects is not None:
            for ref, namespace, name in references(pod):
                fetched[ref.plural, name] = await objects.get(ref, namespace, name)
            services = await objects.all_services()
        inputs = EnvironmentInputs(
            lambda name: fetched.get((CONFIG_MAPS.plural, name)),
            lambda name: fetched.get((SECRETS.plural, name)),
            services, addresses, context.addresses,
            context.node().get("status", {}).get("allocatable", {}),
            {name: volume.path for name, volume in mounted.items()},
        )  # fmt: skip
        variables = environment(pod, container, inputs)
        folder = context.volumes.folder(pod["metadata"]["uid"])
        file = self._hosts_file(pod, folder, addresses)
        return variables, container_mounts(pod, container, mounted, variables, folder, file)

    def _hosts_file(self, pod: Object, folder: Path, addresses: tuple[str, ...]) -> Path | None:
        if not addresses:
            return None
        host, domain = resolv_conf.host_names(pod, self.context.settings.dns.domain)
        own = Path("/etc/hosts").read_text() if pod["spec"].get("hostNetwork") else ""
        path = folder / "etc-hosts"
        path.write_text(etc_hosts.hosts_file(pod, addresses, host, domain, own))
        path.chmod(0o644)
        return path

    def _attempt(self, pod: Object, start: Start, runtime: PodRuntime) -> int:
        """Return the number of a run; where the runtime has forgotten the earlier ones, their logs still tell."""
        if start.attempt or runtime.run(start.container["name"]) is not None:
            return start.attempt
        folder = specs.log_folder(self.context.settings.logs, pod) / start.container["name"]
        if not folder.is_dir():
            return 0
        numbers = [int(name.split(".")[0]) for name in os.listdir(folder) if name.split(".")[0].isdigit()]
        return max(numbers) + 1 if numbers else 0

    # -- stopping ----------------------------------------------------------------------------------------

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
            except lifecycle_hooks.HookFailed:
                context.event(pod, "Warning", "FailedPreStopHook", "PreStopHook failed", container)
        if turn is not None and left() > 0:
            try:
                async with asyncio.timeout(left()):
                    await turn.wait()
            except TimeoutError:
                pass
        try:
            await context.cri.stop_container(run, max(_LEAST_GRACE, left()))
        except CriError as error:
            if error.code != "NOT_FOUND":
                raise

    async def reset(self, pod: Object, run: ContainerRun) -> None:
        """Remove a run at once, because all containers of its pod start again; its log stays."""
        if run.state is ContainerState.RUNNING:
            container = next(
                (container for group in ("containers", "initContainers") for container in pod["spec"].get(group, ())
                 if container["name"] == run.name), None,
            )  # fmt: skip
            self.context.event(pod, "Normal", "Killing", f"Stopping container {run.name}", container)
            await self._gone(self.context.cri.stop_container(run.id, 0))
        await self._gone(self.context.cri.remove_container(run.id))

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

        async def stop(run: ContainerRun) -> None:
            container = known.get(run.name)
            hook = orjson.loads(run.pre_stop) if container is None and run.pre_stop else None
            self.context.event(pod, "Normal", "Killing", f"Stopping container {run.name}", container)
            turn = None
            if run.name in order:
                before = [event for name, event in done.items() if name not in order]
                before += [done[name] for name in order[: order.index(run.name)] if name in done]
                turn = asyncio.Event()
                waiter = asyncio.create_task(_after(before, turn))
            try:
                await self.stop_run(pod, container, run.id, seconds, addresses, hook, turn)
            finally:
                done[run.name].set()
                if turn is not None:
                    waiter.cancel()

        results = await asyncio.gather(*(stop(run) for run in runtime.running), return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result
        for sandbox in runtime.sandboxes:
            if sandbox.ready:
                await self._gone(self.context.cri.stop_pod_sandbox(sandbox.id))

    async def remove(self, pod: Object, runtime: PodRuntime) -> None:
        """Remove what the runtime has of a pod that is gone, and its logs."""
        for run in runtime.runs:
            await self._gone(self.context.cri.remove_container(run.id))
        for sandbox in runtime.sandboxes:
            await self._gone(self.context.cri.stop_pod_sandbox(sandbox.id))
            await self._gone(self.context.cri.remove_pod_sandbox(sandbox.id))
        shutil.rmtree(specs.log_folder(self.context.settings.logs, pod), ignore_errors=True)

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
            await self._gone(self.context.cri.remove_container(run.id))
            logs.remove(run.log_path)
        kept = {run.sandbox for run in runtime.runs if run not in old}
        stale = [sandbox for sandbox in runtime.sandboxes[1:] if not sandbox.ready and sandbox.id not in kept]
        for sandbox in stale:
            await self._gone(self.context.cri.stop_pod_sandbox(sandbox.id))
            await self._gone(self.context.cri.remove_pod_sandbox(sandbox.id))
        return bool(old or stale)

    async def _gone(self, call: Any) -> None:
        try:
            await call
        except CriError as error:
            if error.code != "NOT_FOUND":
                raise


_TYPES = {
    "containers": "container",
    "initContainers": "init_container",
    "ephemeralContainers": "ephemeral_container",
}


async def _after(events: list[asyncio.Event], turn: asyncio.Event) -> None:
    for event in events:
        await event.wait()
    turn.set()


def _target(start: Start, runtime: PodRuntime) -> str:
    """Return the container whose processes an ephemeral container is to see."""
    name = start.container.get("targetContainerName") if start.group == "ephemeralContainers" else None
    if not name:
        return ""
    run = runtime.current(name)
    if run is None:
        raise ConfigError(f'unable to find target container "{name}"')
    return run.id


def _code(error: CriError) -> str:
    return "".join(word.capitalize() for word in error.code.split("_"))
