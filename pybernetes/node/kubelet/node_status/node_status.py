"""The Node object of a kubelet: registers it and keeps its status up to date."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable

from pybernetes.api import version
from pybernetes.api.cloud import EXTERNAL, PROVIDED_ADDRESS, UNINITIALIZED
from pybernetes.api.resource import Object
from pybernetes.client import AlreadyExists, Client, NotFound, StatusError
from pybernetes.client.refs import NODES
from pybernetes.lib import rfc3339
from pybernetes.lib.clock import Clock
from pybernetes.lib.oci import architecture
from pybernetes.node.kubelet.cri.messages import Message
from pybernetes.node.kubelet.cri.runtime_features import RuntimeFeatures
from pybernetes.node.kubelet.node_status import machine, node_allocatable
from pybernetes.node.kubelet.options import Options

log = logging.getLogger(__name__)
_SET_RIGHT_SECONDS = 1.0
# Features that pods may require and that not every kubelet has.
_FEATURES = ("ExtendWebSocketsToKubelet", "RestartAllContainersOnContainerExits")
_PRESSURES = (
    ("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available",
     "KubeletHasInsufficientMemory", "kubelet has insufficient memory available"),
    ("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure",
     "KubeletHasDiskPressure", "kubelet has disk pressure"),
    ("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available",
     "KubeletHasInsufficientPID", "kubelet has insufficient PID available"),
)  # fmt: skip


def labels(options: Options) -> dict[str, str]:
    """Return the labels that a node registers with."""
    host = options.hostname or options.node_name
    return {
        "kubernetes.io/hostname": host,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": architecture(),
        "beta.kubernetes.io/os": "linux",
        "beta.kubernetes.io/arch": architecture(),
        **options.node_labels,
    }


def conditions(
    previous: list[Object], problems: list[str], pressures: frozenset[str], now: float
) -> list[Object]:
    """Return the node's conditions; ``problems`` are what keeps it from being ready."""
    had = {condition["type"]: condition for condition in previous}
    moment = rfc3339.seconds(now)
    states = []
    for type_, good, good_text, bad, bad_text in _PRESSURES:
        under = type_ in pressures
        states.append(
            (type_, "True" if under else "False", bad if under else good, bad_text if under else good_text)
        )
    if problems:
        states.append(
            (
                "Ready",
                "False",
                "KubeletNotReady",
                f"[{', '.join(problems)}]" if len(problems) > 1 else problems[0],
            )
        )
    else:
        states.append(("Ready", "True", "KubeletReady", "kubelet is posting ready status"))
    result = []
    for type_, status, reason, message in states:
        old = had.get(type_, {})
        since = old.get("lastTransitionTime") if old.get("status") == status else None
        result.append({
            "type": type_, "status": status, "reason": reason, "message": message,
            "lastHeartbeatTime": moment, "lastTransitionTime": since or moment,
        })  # fmt: skip
    return result


class NodeStatus:
    """Registers a node and reports how it is: at once when something changes, and from time to time anyway."""

    def __init__(
        self,
        client: Client,
        clock: Clock,
        options: Options,
        *,
        addresses: tuple[str, ...],
        runtime_version: str,
        images: Callable[[], list[Object]],
        problems: Callable[[], list[str]],
        pressures: Callable[[], frozenset[str]],
        port: Callable[[], int],
        features: Callable[[], RuntimeFeatures] = RuntimeFeatures,
        warn: Callable[[str, str], None] = lambda reason, message: None,
    ) -> None:
        self._client, self._clock, self._options = client, clock, options
        self._addresses, self._runtime_version = addresses, runtime_version
        self._images, self._problems, self._pressures, self._port = images, problems, pressures, port
        self._features, self._warn = features, warn
        self.node: Object = {"metadata": {"name": options.node_name}}
        self._wakeup = asyncio.Event()
        most = int(options.configuration["nodeStatusMaxImages"])
        self._most_images = most if most >= 0 else None
        self.capacity: dict[str, str] = {}
        self.allocatable: dict[str, str] = {}
        self._measure()

    def _measure(self) -> None:
        settings = self._options.configuration
        total = {
            **machine.capacity(self._options.root, machine.most_pods(settings)),
            **self._options.capacity,
        }
        self.capacity = total
        self.allocatable = node_allocatable.allocatable(total, settings)

    def wake(self) -> None:
        """Report the status soon, because something changed."""
        self._wakeup.set()

    def seen(self, node: Object) -> None:
        """Look at the Node as the API has it; correct what others say about it that is not so.

        The control plane says that a node is unknown that it did not hear from for a while.
        """
        said = {
            condition["type"]: condition["status"]
            for condition in node.get("status", {}).get("conditions", ())
        }
        own = conditions([], self._problems(), self._pressures(), self._clock.now())
        if any(said.get(condition["type"]) != condition["status"] for condition in own):
            # Not at once: two writers that disagree must not answer one another as fast as they can.
            self._clock.call_later(_SET_RIGHT_SECONDS, self.wake)

    def initial(self) -> Object:
        """Return the object that a node registers with."""
        settings = self._options.configuration
        taints = [*settings.get("registerWithTaints", ())]
        spec: Object = {}
        if self._in_cloud:
            taints.append({"key": UNINITIALIZED, "value": "true", "effect": "NoSchedule"})
        if taints:
            spec["taints"] = taints
        provider = self._options.provider_id or settings["providerID"]
        if provider:
            spec["providerID"] = provider
        return {
            "metadata": {
                "name": self._options.node_name,
                "labels": labels(self._options),
                "annotations": {
                    "volumes.kubernetes.io/controller-managed-attach-detach": "true",
                    **self._provided_address(),
                },
            },
            "spec": spec,
            "status": self.status({}),
        }

    @property
    def _in_cloud(self) -> bool:
        return self._options.cloud_provider == EXTERNAL

    def _provided_address(self) -> dict[str, str]:
        """Return the annotation that tells a cloud which of its addresses this node was given."""
        given = ",".join(self._options.node_ips)
        return {PROVIDED_ADDRESS: given} if self._in_cloud and given else {}

    def _current_addresses(self, previous: Object) -> list[Object]:
        """Return the node's addresses; those of a cloud count, and are waited for unless one was given."""
        if self._in_cloud and previous.get("addresses"):
            return previous["addresses"]
        own = self._options.node_ips if self._in_cloud else self._addresses
        addresses = [{"type": "InternalIP", "address": address} for address in own]
        return [
            *addresses,
            {"type": "Hostname", "address": self._options.hostname or self._options.node_name},
        ]

    def status(self, previous: Object) -> Object:
        """Return the node's status as it is now."""
        return {
            "capacity": self.capacity,
            "allocatable": self.allocatable,
            "conditions": conditions(
                previous.get("conditions", []), self._problems(), self._pressures(), self._clock.now()
            ),
            "addresses": self._current_addresses(previous),
            "daemonEndpoints": {"kubeletEndpoint": {"Port": self._port()}},
            "nodeInfo": machine.info(version.reported(), self._runtime_version),
            "declaredFeatures": list(_FEATURES),
            "images": self._images()[: self._most_images],
            **self._features().node_status(),
        }

    async def register(self) -> None:
        """Create the node, or take over the existing one."""
        delay = 0.2
        while True:
            try:
                await self._register()
                return
            except (StatusError, OSError) as error:
                log.warning("the node %s cannot be registered: %s", self._options.node_name, error)
            await self._clock.sleep(delay)
            delay = min(7.0, delay * 2)

    async def _register(self) -> None:
        name = self._options.node_name
        try:
            self.node = await self._client.create(NODES, self.initial())
        except AlreadyExists:
            self.node = await self._client.get(NODES, name)
            wanted = labels(self._options)
            had = self.node["metadata"].get("labels") or {}
            missing = {key: value for key, value in wanted.items() if had.get(key) != value}
            noted = self.node["metadata"].get("annotations") or {}
            # An annotation that no longer holds goes, as upstream's kubelet has it.
            annotations: dict[str, str | None] = {PROVIDED_ADDRESS: None} if PROVIDED_ADDRESS in noted else {}
            annotations |= self._provided_address()
            changed = {key: value for key, value in annotations.items() if noted.get(key) != value}
            if missing or changed:
                patch = {"metadata": {"labels": missing, "annotations": changed}}
                self.node = await self._client.patch(NODES, name, patch)
            await self.report()

    async def report(self) -> None:
        """Write what has changed of the node's status."""
        name = self._options.node_name
        self.node = await self._client.get(NODES, name, resource_version="0")
        before = self.node.get("status", {})
        status = self.status(before)
        changed = {key: value for key, value in status.items() if before.get(key) != value}
        for key in ("capacity", "allocatable"):
            if key in changed:
                gone = {name: None for name in before.get(key, {}) if name not in status[key]}
                changed[key] = {**status[key], **gone}
        if "addresses" in changed:  # a list merged by key: what is gone has to be named
            changed["addresses"] = [*status["addresses"], {"$patch": "replace"}]
        self.node = await self._client.patch_status(NODES, name, {"status": changed})
        boot = status["nodeInfo"]["bootID"]
        if before.get("nodeInfo", {}).get("bootID") not in (None, "", boot):
            self._warn("Rebooted", f"Node {name} has been rebooted, boot id: {boot}")

    async def run(self) -> None:
        """Report until cancelled."""
        quick, slow = (self._options.seconds(f"nodeStatus{word}Frequency") for word in ("Update", "Report"))
        failures = 0
        while True:
            timer = self._clock.call_later(quick if failures else slow, self._wakeup.set)
            try:
                await self._wakeup.wait()
            finally:
                timer.cancel()
            self._wakeup.clear()
            try:
                await self.report()
                failures = 0
            except (
                NotFound
            ):  # who deleted it, or never made it, has a reason: a kubelet registers when it starts
                failures += 1
                log.warning(
                    "the node %s is not there; its status is written when it is", self._options.node_name
                )
            except (StatusError, OSError) as error:
                failures += 1
                log.warning("the status of the node cannot be written: %s", error)
                await self._clock.sleep(min(quick, 0.5 * failures))


def image_list(images: Iterable[Message]) -> list[Object]:
    """Return images as a node's status lists them, the largest first."""
    listed = []
    for image in images:
        names = [*image.repo_digests, *image.repo_tags]
        if names:
            listed.append({"names": names[:5], "sizeBytes": image.size})
    return sorted(listed, key=lambda image: (-image["sizeBytes"], image["names"]))
