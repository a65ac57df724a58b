"""Which pod and which container a command means."""

from __future__ import annotations

import time

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, quoted
from pybernetes.tools.kubectl.resources.builder import Builder
from pybernetes.tools.kubectl.resources.info import Info
from pybernetes.tools.kubectl.resources.label_selector import show, show_map

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object


DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"


def named(context: Context, word: str, **options: Any) -> Info:
    """Return the object that a word names: a pod, or TYPE/NAME."""
    word = word if "/" in word else f"pods/{word}"
    infos = Builder(context, args=[word], **options).all()
    return infos[0]


def selector_of(info: Info, attaching: bool = False) -> str:
    """Return the labels of the pods of an object; errors say that it was to be attached to."""
    spec, kind = info.object.get("spec") or {}, info.resource.kind
    if kind in ("ReplicationController", "Service"):
        if not spec.get("selector"):
            if kind == "Service":
                what = "cannot attach to *v1.Service: " if attaching else ""
                raise CommandError(
                    f"{what}invalid service '{info.name}': Service is defined without a selector"
                )
        return show_map(spec.get("selector"))
    if kind in ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job"):
        return show(spec.get("selector"))
    group = {"": "v1", "apps": "v1", "batch": "v1"}.get(info.resource.group, "unstructured")
    name = info.resource.kind if group == "v1" else "Unstructured"
    raise CommandError(
        f"cannot attach to *{group}.{name}: selector for *{group}.{name} not implemented"
        if attaching
        else f"selector for *{group}.{name} not implemented"
    )


def active_order(pod: Object) -> tuple[Any, ...]:
    """Return the sort key by which pods are preferred for logs and exec: ready and longest running first."""
    status = pod.get("status") or {}
    phase = {"Pending": 2, "Unknown": 1, "Running": 0}.get(status.get("phase") or "", 3)
    ready: Object = next(
        (condition for condition in status.get("conditions") or () if condition["type"] == "Ready"), {}
    )
    restarts = max(
        (
            container_status.get("restartCount", 0)
            for container_status in status.get("containerStatuses") or ()
        ),
        default=0,
    )
    return (
        not (pod.get("spec") or {}).get("nodeName"), phase, ready.get("status") != "True",
        ready.get("lastTransitionTime") or "", restarts, pod["metadata"].get("creationTimestamp") or "",
    )  # fmt: skip


def pods_of(context: Context, info: Info, seconds: float = 60.0, attaching: bool = False) -> list[Object]:
    """Return the pods of an object, the best first, and wait until there is one."""
    if info.resource.kind == "Pod":
        return [info.object]
    resource = context.discovery.find("pods")
    labels = selector_of(info, attaching)
    listed = context.client.list(resource, info.namespace, chunk=0, labels=labels)
    items = listed.get("items") or []
    if not items:
        version = (listed.get("metadata") or {}).get("resourceVersion")
        deadline = time.monotonic() + seconds
        limit = min(seconds, context.client.timeout or seconds)
        try:
            for event in context.client.watch(
                resource, info.namespace, labels=labels, resourceVersion=version, read_timeout=limit,
                timeoutSeconds=int(limit) + 1,
            ):  # fmt: skip
                if event["type"] in ("ADDED", "MODIFIED"):
                    items = [event["object"]]
                    break
        except TimeoutError:
            pass
        if not items and time.monotonic() < deadline:
            raise CommandError("watch closed before UntilWithoutRetry timeout")
    if not items:
        raise CommandError("timed out waiting for the condition")
    return sorted(items, key=active_order)


def containers(pod: Object) -> list[Object]:
    """Return every container of a pod: regular, init and ephemeral."""
    spec = pod.get("spec") or {}
    return [
        *(spec.get("containers") or ()), *(spec.get("initContainers") or ()), *(spec.get("ephemeralContainers") or ()),
    ]  # fmt: skip


def container_names(pod: Object) -> str:
    """Return all container names, as messages list them."""
    spec = pod.get("spec") or {}
    names = [container["name"] for container in spec.get("containers") or ()]
    names += [f"{container['name']} (init)" for container in spec.get("initContainers") or ()]
    names += [f"{container['name']} (ephem)" for container in spec.get("ephemeralContainers") or ()]
    return ", ".join(names)


def choose_container(context: Context, pod: Object, name: str, *, quiet: bool = False) -> str:
    """Return the container that is meant; tell which one if none was named."""
    spec = pod.get("spec") or {}
    known = [candidate["name"] for candidate in containers(pod)]
    if name:
        if name not in known:
            raise CommandError(
                f"container {name} is not valid for pod {pod['metadata']['name']} out of: {container_names(pod)}"
            )
        return name
    default = (pod["metadata"].get("annotations") or {}).get(DEFAULT_CONTAINER)
    if default:
        if default in known:
            return default
        context.warn(f"Default container name {quoted(default)} not found in pod {pod['metadata']['name']}")
    first = spec["containers"][0]["name"]
    if len(known) > 1 and not quiet:
        context.warn(f"Defaulted container {quoted(first)} out of: {container_names(pod)}")
    return first


def wait_running(context: Context, pod: Object, seconds: float) -> Object:
    """Wait until a pod runs or has ended."""
    from pybernetes.tools.kubectl.resources.waiting import until

    resource = context.discovery.find("pods")
    info = Info(resource, pod["metadata"]["namespace"], pod["metadata"]["name"], pod)

    def runs(value: Object | None) -> bool:
        phase = ((value or {}).get("status") or {}).get("phase")
        if value is None:
            raise CommandError(f'pods "{info.name}" not found')
        return phase in ("Running", "Succeeded", "Failed")

    running = until(context, info, runs, time.monotonic() + seconds)
    assert running is not None
    return running
