"""Changes static pods one by one: a new manifest, and the old one back if its pod does not come up."""

from __future__ import annotations

import asyncio
import difflib
import shutil
import time
from pathlib import Path

from pybernetes.client.errors import StatusError
from pybernetes.client.refs import PODS
from pybernetes.lib.tls.tls import write_atomically
from pybernetes.tools.kubeadm import etcd_pod, patches, static_pods, waiting
from pybernetes.tools.kubeadm.configuration.loading import InitSettings
from pybernetes.tools.kubeadm.configuration.printing import to_yaml
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.init_data import say
from pybernetes.tools.kubeadm.locations import MANIFESTS, NAMESPACE, TEMPORARY
from pybernetes.tools.kubeadm.objects import ClusterObjects

_MIRROR = "kubernetes.io/config.mirror"
_LOOK_SECONDS = 0.2


def wanted(settings: InitSettings, folder: Path | None, *, etcd: bool = True) -> dict[str, str]:
    """Return the manifests of a control plane, as texts."""
    endpoint, timeouts = settings.init["localAPIEndpoint"], settings.init["timeouts"]
    timeout = timeouts["controlPlaneComponentHealthCheck"]
    pods = static_pods.control_plane(settings.cluster, endpoint, timeout)
    if etcd and "local" in settings.cluster["etcd"]:
        name, address = settings.init["nodeRegistration"]["name"], endpoint["advertiseAddress"]
        pods = {"etcd": etcd_pod.member(settings.cluster, address, name, timeout, _members()), **pods}
    return {name: to_yaml(patches.patched(name, pod, folder, say)) for name, pod in pods.items()}


def _members() -> dict[str, str] | None:
    """Return the members that this machine's etcd began with, if others were there before it."""
    from pybernetes.api.text import yaml_reader

    path = MANIFESTS / "etcd.yaml"
    if not path.exists():
        return None
    command = yaml_reader.loads(path.read_bytes())[0]["spec"]["containers"][0]["command"]
    if "--initial-cluster-state=existing" not in command:
        return None
    prefix = "--initial-cluster="
    listed = next(word.removeprefix(prefix) for word in command if word.startswith(prefix))
    return dict(part.split("=", 1) for part in listed.split(","))


def check_present() -> None:
    """Complain of a control plane whose manifests are not on this machine."""
    for component in static_pods.COMPONENTS:
        path = MANIFESTS / f"{component}.yaml"
        if not path.exists():
            raise KubeadmError(
                f'the manifest file "{path}" does not exist: stat {path}: no such file or directory'
            )


def difference(component: str, new: str, lines: int) -> str:
    """Return how a manifest would change."""
    path = MANIFESTS / f"{component}.yaml"
    old = path.read_text() if path.exists() else ""
    return "".join(
        difflib.unified_diff(old.splitlines(True), new.splitlines(True), str(path), "new manifest", n=lines)
    )


async def apply(
    objects: ClusterObjects, settings: InitSettings, texts: dict[str, str], seconds: float
) -> None:
    """Change the pods of this machine's control plane, and take all back if one does not come up."""
    backup = TEMPORARY / f"kubeadm-backup-manifests-{time.strftime('%Y-%m-%d-%H-%M-%S')}"
    backup.mkdir(parents=True, exist_ok=True, mode=0o700)
    node = settings.init["nodeRegistration"]["name"]
    changed: list[str] = []
    try:
        for component, text in texts.items():
            path = MANIFESTS / f"{component}.yaml"
            say(f'[upgrade/staticpods] Preparing for "{component}" upgrade')
            if path.exists() and path.read_text() == text:
                say(
                    f"[upgrade/staticpods] Current and new manifests of {component} are equal, skipping upgrade"
                )
                continue
            before = await _shown(objects, component, node)
            if path.exists():
                shutil.copy2(path, backup / path.name)
            say(
                f'[upgrade/staticpods] Moving new manifest to "{path}" and backing up old manifest to "{backup / path.name}"'
            )
            changed.append(component)
            _write(path, text)
            await _wait(objects, settings, component, node, before, seconds)
            say(f'[upgrade/staticpods] Component "{component}" upgraded successfully!')
    except BaseException:
        for component in changed:
            saved = backup / f"{component}.yaml"
            if saved.exists():
                say(f"[upgrade/staticpods] Rolling back {component}")
                _write(MANIFESTS / f"{component}.yaml", saved.read_text())
        raise


def _write(path: Path, text: str) -> None:
    """Replace a manifest at once; the kubelet does not look at names that begin with a dot."""
    write_atomically(path, text.encode(), 0o600)


async def _shown(objects: ClusterObjects, component: str, node: str) -> tuple[str, str]:
    """Return the hash of the pod that the kubelet shows, and the container of it that runs; empty for none."""
    try:
        pod = await objects.client.get(PODS, f"{component}-{node}", NAMESPACE)
    except (StatusError, OSError):
        return "", ""
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    running = [
        status.get("containerID", "") for status in statuses if "running" in (status.get("state") or {})
    ]
    return str((pod["metadata"].get("annotations") or {}).get(_MIRROR, "")), "".join(running)


async def _wait(
    objects: ClusterObjects,
    settings: InitSettings,
    component: str,
    node: str,
    before: tuple[str, str],
    seconds: float,
) -> None:
    """Wait until the kubelet shows another pod, and that answers."""
    say("[upgrade/staticpods] Waiting for the kubelet to restart the component")
    say(f"[upgrade/staticpods] This can take up to {waiting.go_duration(seconds)}")
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while True:
        identity, container = await _shown(objects, component, node)
        if identity not in ("", before[0]) and container not in ("", before[1]):
            break
        if loop.time() > deadline:
            raise KubeadmError(
                f"[upgrade/staticpods] the static pod {component} did not change: timed out waiting for the condition"
            )
        await asyncio.sleep(_LOOK_SECONDS)
    endpoint = settings.init["localAPIEndpoint"]
    parts = waiting.endpoints(settings.cluster, endpoint["advertiseAddress"], endpoint["bindPort"])
    if component in parts:
        await waiting.for_control_plane(
            {component: parts[component]}, max(1.0, deadline - loop.time()), Path("/var/lib/kubelet")
        )
