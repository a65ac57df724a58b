"""How a container would end, from its command alone; annotations on the pod say it where the command does not."""

from __future__ import annotations

import re
from typing import NamedTuple

from pybernetes.api.resource import Object
from pybernetes.lib.flags import duration
from pybernetes.tools.local.hollow.shell import Script, Unknown

EXIT_CODE = "hollow.pybernetes.io/exit-code"
RUN_SECONDS = "hollow.pybernetes.io/run-seconds"
HOOK = "helm.sh/hook"
_SHELLS = ("sh", "/bin/sh", "bash", "/bin/bash")
_SHELL_IMAGES = ("busybox", "alpine")
_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?\Z")
_LONGEST = 10 * 365 * 86400.0
_KEYED = re.compile(r"metadata\.(labels|annotations)\['([^']+)'\]\Z")


class ContainerExit(NamedTuple):
    """After how many seconds a container ends, and with which exit code."""

    seconds: float
    exit_code: int


def of_container(container: Object, pod: Object | None = None) -> ContainerExit | None:
    """Return how a container ends; None if it runs for good, as servers do and whatever is not understood."""
    script = script_of(container, pod or {})
    return ContainerExit(min(script.seconds, _LONGEST), script.code) if script is not None else None


def script_of(container: Object, pod: Object) -> Script | None:
    """Return what a container runs and how that would go; None if it is not understood."""
    words = [*(container.get("command") or ()), *(container.get("args") or ())]
    if not words:
        # The shell that such an image starts by default has nothing to read, and ends.
        image = container.get("image", "").rpartition("/")[2].partition(":")[0].partition("@")[0]
        return Script("", {}) if image in _SHELL_IMAGES else None
    if words[0] in _SHELLS:
        if len(words) < 3 or words[1] not in ("-c", "-ec", "-xc"):
            return None
        text = words[2]
    else:
        text = " ".join(words)
    try:
        return Script(text, _variables(container, pod))
    except Unknown:
        return None


def _variables(container: Object, pod: Object) -> dict[str, str]:
    """Return the environment, as far as it comes from the pod itself."""
    variables = {}
    meta = pod.get("metadata", {})
    for variable in container.get("env") or ():
        path = ((variable.get("valueFrom") or {}).get("fieldRef") or {}).get("fieldPath", "")
        keyed = _KEYED.match(path)
        if keyed:
            variables[variable["name"]] = (meta.get(keyed[1]) or {}).get(keyed[2], "")
        elif path in ("metadata.name", "metadata.namespace", "metadata.uid"):
            variables[variable["name"]] = meta.get(path.removeprefix("metadata."), "")
        elif "valueFrom" not in variable:
            variables[variable["name"]] = variable.get("value", "")
    return variables


def is_task(pod: Object) -> bool:
    """Return whether a pod is there to come to an end: a Job's, or a hook of a Helm chart."""
    meta = pod["metadata"]
    if pod["spec"].get("restartPolicy", "Always") == "Always":  # its end would be a new beginning
        return False
    owners = meta.get("ownerReferences") or ()
    return HOOK in (meta.get("annotations") or {}) or any(
        owner.get("kind") == "Job" and owner.get("controller") for owner in owners
    )


def of_pod(pod: Object) -> ContainerExit | None:
    """Return how a pod ends: with the last of its containers, and badly if one of them does."""
    annotations = pod["metadata"].get("annotations") or {}
    if EXIT_CODE in annotations or RUN_SECONDS in annotations:
        return ContainerExit(
            _seconds(annotations.get(RUN_SECONDS, "0")), _code(annotations.get(EXIT_CODE, "0"))
        )
    exits = [of_container(container, pod) for container in pod["spec"]["containers"]]
    if any(container_exit is None for container_exit in exits):
        # Whoever made it waits for its end, and would forever.
        return ContainerExit(0.0, 0) if is_task(pod) else None
    return ContainerExit(
        max(container_exit.seconds for container_exit in exits if container_exit),
        max(container_exit.exit_code for container_exit in exits if container_exit),
    )


def _seconds(text: str) -> float:
    """Return the seconds that an annotation says, a number or a duration such as 1m; none if it says nothing sensible."""
    try:
        seconds = float(text) if _NUMBER.match(text) else float(duration(text))
    except ValueError:
        return 0.0
    return min(max(0.0, seconds), _LONGEST)


def _code(text: str) -> int:
    return int(text) & 255 if _NUMBER.match(text) and text.isdecimal() else 1
