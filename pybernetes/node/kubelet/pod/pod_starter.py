"""Starts pods: creates their sandboxes, and creates and starts their containers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.client import NotFound
from pybernetes.client.refs import CONFIG_MAPS, RUNTIME_CLASSES, SECRETS
from pybernetes.lib.event_loop.uninterrupted import uninterrupted
from pybernetes.lib.files.regular import rewrite
from pybernetes.node.kubelet.containers import etc_hosts, logs, resolv_conf
from pybernetes.node.kubelet.containers.environment import EnvironmentInputs, environment
from pybernetes.node.kubelet.containers.errors import ConfigError
from pybernetes.node.kubelet.context import Context
from pybernetes.node.kubelet.cri import label_keys, specs, start_limiter
from pybernetes.node.kubelet.cri.client import CriError
from pybernetes.node.kubelet.cri.messages import Message
from pybernetes.node.kubelet.cri.pod_runtime import PodRuntime
from pybernetes.node.kubelet.cri.security_context import NODE_USERS
from pybernetes.node.kubelet.images.image_puller import ImageError, Report
from pybernetes.node.kubelet.object_cache import NotSynced, references
from pybernetes.node.kubelet.pod import lifecycle_hooks, start_steps
from pybernetes.node.kubelet.pod.plan import Start
from pybernetes.node.kubelet.pod.pod_stopper import PodStopper
from pybernetes.node.kubelet.pod_kinds import is_static, shown
from pybernetes.node.kubelet.volumes.container_mounts import container_mounts
from pybernetes.node.kubelet.volumes.errors import MOUNT_FAILED, ImageVolumeError
from pybernetes.node.kubelet.volumes.image_volumes import mounted_images
from pybernetes.node.kubelet.volumes.volume_kind import MountedVolume


class StartFailed(Exception):
    """A container could not be started; ``reason`` is why it waits."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason, self.message = reason, message


class PodStarter:
    """Creates sandboxes, and creates and starts containers on the runtime."""

    def __init__(self, context: Context, stopper: PodStopper) -> None:
        self.context, self._stopper = context, stopper

    # -- sandboxes ---------------------------------------------------------------------------------------

    async def sandbox_config(self, pod: Object, attempt: int, cgroup_parent: str) -> Message:
        """Return the configuration of a pod's sandbox; record events about its DNS, and if it cannot be met."""
        settings = self.context.settings
        resolv, warnings = resolv_conf.pod_resolv_conf(pod, settings.dns)
        for warning in warnings:
            if warning == "MissingClusterDNS":
                text = f'pod: "{shown(pod)}". kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.'
                self.context.event(pod, "Warning", "MissingClusterDNS", text)
            else:
                self.context.event(pod, "Warning", "DNSConfigForming", warning)
        try:
            users = await self._users(pod)
            return specs.sandbox_config(pod, attempt, cgroup_parent, settings, resolv, users)
        except (ConfigError, ValueError) as error:
            raise self._no_sandbox(pod, str(error)) from None

    def _no_sandbox(self, pod: Object, why: str) -> ConfigError:
        self.context.event(pod, "Warning", "FailedCreatePodSandBox", f"Failed to create pod sandbox: {why}")
        return ConfigError(why)

    async def _users(self, pod: Object) -> Message:
        """Return the user namespace of a pod: the node's, or its own where the runtime can make it."""
        if pod["spec"].get("hostUsers") is not False:
            return NODE_USERS
        handler = await self._handler(pod)
        what = f'RuntimeClass handler "{handler}"' if handler else "runtime"
        refused = f"can't set `spec.hostUsers: false`, {what} does not support user namespaces"
        try:
            if not self.context.features().handler(handler).user_namespaces:
                raise ConfigError(refused)
        except ValueError as error:
            raise ConfigError(f"{refused}: {error}") from None
        return self.context.user_namespaces.of(pod["metadata"]["uid"])

    async def create_sandbox(self, pod: Object, config: Message) -> str:
        """Create a pod's sandbox; return its id."""
        if pod["spec"].get("resourceClaims"):
            why = "DRA drivers are not supported by this kubelet"
            text = f"Failed to prepare dynamic resources: {why}"
            self.context.event(pod, "Warning", "FailedPrepareDynamicResources", text)
            raise ConfigError(why)
        specs.log_folder(self.context.settings.logs, pod).mkdir(parents=True, exist_ok=True)
        try:
            handler = await self._handler(pod)
            async with self.context.start_limiter.slot(start_limiter.SANDBOX):
                return await uninterrupted(self._run_sandbox(config, handler))
        except ConfigError as error:
            raise self._no_sandbox(pod, str(error)) from None
        except CriError as error:
            self._no_sandbox(pod, f"rpc error: code = {_code(error)} desc = {error.message}")
            raise

    async def _run_sandbox(self, config: Message, handler: str) -> str:
        context, label = self.context, ("runtime_handler", handler)
        begun = context.clock.monotonic()
        try:
            return await context.cri.run_pod_sandbox(config, handler)
        except CriError:
            context.metrics.add("kubelet_run_podsandbox_errors_total", label)
            raise
        finally:
            took = context.clock.monotonic() - begun
            context.metrics.observe("kubelet_run_podsandbox_duration_seconds", took, label)

    async def _handler(self, pod: Object) -> str:
        """Return the runtime's handler for a pod's RuntimeClass."""
        name = pod["spec"].get("runtimeClassName")
        if not name:
            return ""
        client = self.context.client
        if client is None:
            raise ConfigError(f'RuntimeClass "{name}" cannot be looked up without an API server')
        try:
            return (await client.get(RUNTIME_CLASSES, name)).get("handler", "")
        except NotFound:
            text = f'failed to get RuntimeClass {name}: runtimeclass.node.k8s.io "{name}" not found'
            raise ConfigError(text) from None

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

        def reached(name: str) -> None:
            context.starts.reached(pod["metadata"]["uid"], name, container["name"])

        try:
            images, image = await self._images(pod, container, config, report)
            reached(start_steps.IMAGE)
            variables, mounted_files = await self._prepare(pod, container, {**mounted, **images}, addresses)
            attempt = self._attempt(pod, start, runtime)
            definition = specs.container_config(
                pod, container, attempt, image, variables, mounted_files, context.settings, config,
                _target(start, runtime),
            )  # fmt: skip
            if images:
                definition.annotations[label_keys.IMAGE_VOLUMES] = ",".join(
                    volume.image.image for volume in images.values() if volume.image is not None
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
                run = await uninterrupted(context.cri.create_container(sandbox.id, definition, config))
        except CriError as error:
            self._count_images(pod, container, error.message)
            report("Warning", "Failed", f"Error: {error.message}")
            raise StartFailed("CreateContainerError", error.message) from None
        self._count_images(pod, container)
        reached(start_steps.CREATE)
        report("Normal", "Created", "Container created")
        try:
            async with context.start_limiter.slot(start_limiter.START):
                await uninterrupted(context.cri.start_container(run))
        except CriError as error:
            report("Warning", "Failed", f"Error: {error.message}")
            kind = ("container_type", _TYPES[start.group])
            context.metrics.add("kubelet_started_containers_errors_total", kind, ("code", _code(error)))
            raise StartFailed("RunContainerError", error.message) from None
        reached(start_steps.START)
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
            await self._stopper.stop_run(pod, container, run, grace, addresses)
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
            services = await objects.all_services(wait=not is_static(pod))
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
        recursive = await self._recursive_read_only(pod, container)
        return variables, container_mounts(pod, container, mounted, variables, folder, file, recursive)

    async def _recursive_read_only(self, pod: Object, container: Object) -> bool:
        """Return whether the runtime can make mounts read-only with all below them, if the container asks."""
        mounts = container.get("volumeMounts", ())
        if all(mount.get("recursiveReadOnly", "Disabled") == "Disabled" for mount in mounts):
            return False
        return self.context.features().handler(await self._handler(pod)).recursive_read_only

    def _hosts_file(self, pod: Object, folder: Path, addresses: tuple[str, ...]) -> Path | None:
        if not addresses:
            return None
        host, domain = resolv_conf.host_names(pod, self.context.settings.dns.domain)
        own = Path("/etc/hosts").read_text() if pod["spec"].get("hostNetwork") else ""
        path = folder / "etc-hosts"
        rewrite(path, etc_hosts.hosts_file(pod, addresses, host, domain, own).encode(), 0o644)
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


_TYPES = {
    "containers": "container",
    "initContainers": "init_container",
    "ephemeralContainers": "ephemeral_container",
}


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
