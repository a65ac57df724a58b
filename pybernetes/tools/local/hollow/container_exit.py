"""How a container would end, from its command alone; annotations on the pod say it where the command does not."""

from __future__ import annotations

import re
from typing import NamedTuple

from pybernetes.api.resource import Object
from pybernetes.tools.local.hollow.shell import Script, Unknown

EXIT_CODE = "hollow.pybernetes.io/exit-code"
RUN_SECONDS = "hollow.pybernetes.io/run-seconds"
_SHELLS = ("sh", "/bin/sh", "bash", "/bin/bash")
_SHELL_IMAGES = ("busybox", "alpine")
_KEYED = re.compile(r"metadata\.(labels|annotations)\['([^']+)'\]\Z")


class ContainerExit(NamedTuple):
    """After how many seconds a container ends, and with which exit code."""

    seconds: float
    exit_code: int


def of_container(container: Object, pod: Object | None = None) -> ContainerExit | None:
    """Return how a container ends; None if it runs for good, as servers do and whatever is not understood."""
    words = [*(container.get("command") or ()), *(container.get("args") or ())]
    if not words:
        # The shell that such an image starts by default has nothing to read, and ends.
        image = container.get("image", "").rpartition("/")[2].partition(":")[0].partition("@")[0]
        return ContainerExit(0.0, 0) if image in _SHELL_IMAGES else None
    if words[0] in _SHELLS:
        if len(words) < 3 or words[1] not in ("-c", "-ec", "-xc"):
            return None
        text = words[2]
    else:
        text = " ".join(words)
    try:
        script = Script(text, _variables(container, pod or {}))
    except Unknown:
        return None
    return ContainerExit(script.seconds, script.code)


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


def of_pod(pod: Object) -> ContainerExit | None:
    """Return how a pod ends: with the last of its containers, and badly if one of them does."""
    annotations = pod["metadata"].get("annotations") or {}
    if EXIT_CODE in annotations or RUN_SECONDS in annotations:
        return ContainerExit(float(annotations.get(RUN_SECONDS, 0)), int(annotations.get(EXIT_CODE, 0)))
    exits = [of_container(container, pod) for container in pod["spec"]["containers"]]
    if any(container_exit is None for container_exit in exits):
        return None
    return ContainerExit(
        max(container_exit.seconds for container_exit in exits if container_exit),
        max(container_exit.exit_code for container_exit in exits if container_exit),
    )
