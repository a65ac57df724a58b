"""Why the containers of a pod do not run, run again and again, or are not ready. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pybernetes.api.resource import Object
from pybernetes.client.refs import CONFIG_MAPS, NODES, SECRETS, Ref
from pybernetes.tools.why.finding import Finding, link, listed
from pybernetes.tools.why.world import World, condition, said

_SPECS = ("initContainers", "containers", "ephemeralContainers")
_STATUSES = ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses")
_STARTING = ("ContainerCreating", "PodInitializing")
_WAITS = {
    "ImagePullBackOff": "its image cannot be pulled",
    "ErrImagePull": "its image cannot be pulled",
    "ErrImageNeverPull": "its image is not on the node, and its pull policy is Never",
    "InvalidImageName": "the name of its image is none",
    "CreateContainerConfigError": "something that its definition refers to is missing",
    "CreateContainerError": "the container runtime cannot create it",
    "RunContainerError": "the container runtime cannot start it",
    "CrashLoopBackOff": "it ended again and again, and waits before it is started once more",
    "PostStartHookError": "its postStart hook failed",
}
_SIGNALS = {
    137: "killed (SIGKILL)",
    139: "a crash (SIGSEGV)",
    143: "asked to end (SIGTERM)",
    134: "an abort (SIGABRT)",
}
_EXITS = {126: "its command cannot be executed", 127: "its command was not found"}
_FAILED_PROBE = re.compile(r"\A(Liveness|Readiness|Startup) probe (failed|errored)")


def references(pod: Object) -> list[tuple[Ref, str]]:
    """Return the ConfigMaps and Secrets that a pod cannot start without."""
    names: dict[tuple[Ref, str], None] = {}

    def note(ref: Ref, source: Object | None, field: str = "name") -> None:
        if source and source.get(field) and not source.get("optional"):
            names[ref, source[field]] = None

    for container in _containers(pod):
        for variable in container.get("env") or ():
            value = variable.get("valueFrom") or {}
            note(CONFIG_MAPS, value.get("configMapKeyRef"))
            note(SECRETS, value.get("secretKeyRef"))
        for source in container.get("envFrom") or ():
            note(CONFIG_MAPS, source.get("configMapRef"))
            note(SECRETS, source.get("secretRef"))
    for volume in pod["spec"].get("volumes") or ():
        note(CONFIG_MAPS, volume.get("configMap"))
        note(SECRETS, volume.get("secret"), "secretName")
        for source in (volume.get("projected") or {}).get("sources") or ():
            note(CONFIG_MAPS, source.get("configMap"))
            note(SECRETS, source.get("secret"))
    return list(names)


def decide(pod: Object, world: World) -> list[Finding]:
    """Return what is the matter with the containers of a pod that has a node."""
    findings = [*_node(pod, world), *_missing(pod, world)]
    statuses = list(_statuses(pod))
    for status in statuses:
        findings += _waiting(pod, status, world)
    for status in statuses:
        findings += _restarted(status)
    status = pod.get("status") or {}
    if status.get("phase", "Pending") == "Pending" and not any(finding.cause for finding in findings):
        findings += _starting(pod, world)
    if status.get("phase") == "Running":
        findings += _not_ready(pod, statuses, world)
    ready = condition(pod, "Ready")
    if (
        status.get("phase") == "Running"
        and ready.get("status") != "True"
        and not any(finding.cause for finding in findings)
    ):
        findings.append(Finding("It is not ready.", [said(ready)]))
    return findings


def ended(pod: Object) -> list[Finding]:
    """Return how the containers of a pod that is over have ended."""
    findings = []
    for status in _statuses(pod):
        over = (status.get("state") or {}).get("terminated")
        if over is not None and (over.get("exitCode") or over.get("reason") == "OOMKilled"):
            findings.append(Finding(f"Container {status['name']} ended with {how(over)}.", _message(over)))
    return findings


def how(over: Object) -> str:
    """Say how a container ended."""
    code = over.get("exitCode", 0)
    if over.get("reason") == "OOMKilled":
        return "code 137: out of memory, it used more than its limit"
    meaning = _SIGNALS.get(code) or _EXITS.get(code)
    reason = over.get("reason") if over.get("reason") not in ("Error", "Completed", None, "") else ""
    text = f"code {code}: {meaning}" if meaning else f"code {code}"
    return f"{text} ({reason})" if reason else text


def _message(over: Object) -> list[str]:
    return [f"It said: {over['message']}"] if over.get("message") else []


def _containers(pod: Object) -> Iterator[Object]:
    for group in _SPECS:
        yield from pod["spec"].get(group) or ()


def _statuses(pod: Object) -> Iterator[Object]:
    for group in _STATUSES:
        yield from (pod.get("status") or {}).get(group) or ()


def _node(pod: Object, world: World) -> list[Finding]:
    name = pod["spec"]["nodeName"]
    node = world.get(NODES, name)
    if node is None:
        if world.is_known(NODES):
            return [Finding(f"Its node {name} does not exist.", links=[link(NODES, name)])]
        return []
    ready = condition(node, "Ready")
    if ready.get("status") == "True":
        return []
    text = f"Its node {name} is not ready."
    return [Finding(text, [said(ready)], [link(NODES, name)], f"pyb why node/{name}")]


def _missing(pod: Object, world: World) -> list[Finding]:
    namespace = pod["metadata"]["namespace"]
    return [
        Finding(f"{ref.kind} {name}, which it refers to, does not exist.", links=[link(ref, name, namespace)])
        for ref, name in references(pod)
        if world.is_known(ref) and world.get(ref, name, namespace) is None
    ]


def _waiting(pod: Object, status: Object, world: World) -> list[Finding]:
    waits = (status.get("state") or {}).get("waiting") or {}
    reason = str(waits.get("reason") or "")
    if not reason or reason in _STARTING:
        return []
    meta, name = pod["metadata"], status["name"]
    details = [str(waits["message"])] if waits.get("message") else []
    before = (status.get("lastState") or {}).get("terminated")
    if before is not None:
        details += [f"The last time it ended with {how(before)}.", *_message(before)]
    logs = f"kubectl logs {meta['name']} -n {meta['namespace']} -c {name} --previous" if before else ""
    if reason == "CrashLoopBackOff":
        details += _probe_failures(world, ("Liveness", "Startup"))
    if "Image" in reason:
        details.append(f"Image: {status.get('image') or _image(pod, name)}")
    text = _WAITS.get(reason, f"it waits: {reason}")
    return [Finding(f"Container {name}: {text} ({reason}).", details, command=logs)]


def _image(pod: Object, name: str) -> str:
    return next((str(item.get("image", "")) for item in _containers(pod) if item["name"] == name), "")


def _restarted(status: Object) -> list[Finding]:
    running, before = (
        (status.get("state") or {}).get("running"),
        (status.get("lastState") or {}).get("terminated"),
    )
    count = status.get("restartCount") or 0
    if running is None or before is None or not count:
        return []
    name = status["name"]
    text = (
        f"Container {name} was restarted once"
        if count == 1
        else f"Container {name} was restarted {count} times"
    )
    text = f"{text}; the last time it had ended with {how(before)}."
    return [Finding(text, _message(before), cause=bool(before.get("exitCode")))]


def _starting(pod: Object, world: World) -> list[Finding]:
    """Say what a pod that has a node and nothing to complain of is busy with."""
    failed = world.message(
        "FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox", "NetworkNotReady", "FailedMapVolume"
    )
    if failed:
        return [Finding("Its node cannot prepare it.", [failed])]
    for status in (pod.get("status") or {}).get("initContainerStatuses") or ():
        if (status.get("state") or {}).get("running") is not None and not status.get("started"):
            return [Finding(f"Its init container {status['name']} has to end first.", cause=False)]
    pulling = world.events("Pulling")
    pulled = {event.get("message", "").split('"')[1::2][0] for event in world.events("Pulled") if '"' in event.get("message", "")}  # fmt: skip
    for event in pulling:
        image = (str(event.get("message") or "").split('"') + ["", ""])[1]
        if image not in pulled:
            return [Finding(f"The image {image} is being pulled.", cause=False)]
    return [Finding("Its node is starting it.", cause=False)]


def _not_ready(pod: Object, statuses: Iterable[Object], world: World) -> list[Finding]:
    if condition(pod, "Ready").get("status") == "True":
        return []
    findings = []
    waiting = [
        status["name"] for status in statuses if not status.get("ready") and "running" in (status.get("state") or {})
    ]  # fmt: skip
    probed = {item["name"] for item in _containers(pod) if "readinessProbe" in item or "startupProbe" in item}
    for name in waiting:
        if name in probed:
            details = _probe_failures(world, ("Readiness", "Startup"))
            findings.append(Finding(f"Container {name} runs, and its probe does not succeed.", details))
    gates = [gate["conditionType"] for gate in pod["spec"].get("readinessGates") or ()]
    closed = [type_ for type_ in gates if condition(pod, type_).get("status") != "True"]
    if closed:
        text = f"Its readiness gate {listed(closed)} is not true: another controller has to say so."
        findings.append(Finding(text))
    return findings


def _probe_failures(world: World, probes: tuple[str, ...]) -> list[str]:
    for event in world.events("Unhealthy", "ProbeWarning"):
        message = str(event.get("message") or "")
        match = _FAILED_PROBE.match(message)
        if match is not None and match[1] in probes:
            return [message]
    return []
