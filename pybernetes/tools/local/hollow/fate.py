"""How a container would end, from its command alone: hollow nodes understand ``sleep``, ``exit``, ``true`` and ``false``.

Annotations on the pod say it for commands that only a real node could run.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

Object = dict[str, Any]
EXIT_CODE = "hollow.pybernetes.io/exit-code"
RUN_SECONDS = "hollow.pybernetes.io/run-seconds"
_SLEEP = re.compile(r"sleep (\d+(?:\.\d+)?)([smhd]?)\Z")
_EXIT = re.compile(r"exit(?: (\d{1,3}))?\Z")
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_SHELL_IMAGES = ("busybox", "alpine")
_SHELLS = ("sh", "/bin/sh", "bash", "/bin/bash")


class Fate(NamedTuple):
    """After how many seconds a container ends, and with which exit code."""

    seconds: float
    exit_code: int


def of_container(container: Object) -> Fate | None:
    """The fate of a container; None if it runs for good, as servers do and whatever we do not understand."""
    words = [*(container.get("command") or ()), *(container.get("args") or ())]
    if not words:
        # The shell that such an image starts by default has nothing to read, and ends.
        image = container.get("image", "").rpartition("/")[2].partition(":")[0].partition("@")[0]
        return Fate(0.0, 0) if image in _SHELL_IMAGES else None
    if words[0] in _SHELLS and len(words) >= 3 and words[1] in ("-c", "-ec", "-xc"):
        return _script(words[2])
    return _script(" ".join(words))


def _script(text: str) -> Fate | None:
    seconds, code = 0.0, 0
    for part in re.split(r"[;\n]|&&", text):
        statement = " ".join(part.split())
        if not statement or statement.startswith(("echo ", "#")):
            continue
        sleep, leave = _SLEEP.match(statement), _EXIT.match(statement)
        if sleep:
            seconds += float(sleep[1]) * _UNITS[sleep[2]]
        elif leave:
            return Fate(seconds, int(leave[1] or code) & 255)
        elif statement in ("true", "/bin/true", "false", "/bin/false"):
            code = int(statement.endswith("false"))
        else:
            return None
    return Fate(seconds, code)


def of_pod(pod: Object) -> Fate | None:
    """The fate of a pod: it ends with the last of its containers, badly if one of them does."""
    annotations = pod["metadata"].get("annotations") or {}
    if EXIT_CODE in annotations or RUN_SECONDS in annotations:
        return Fate(float(annotations.get(RUN_SECONDS, 0)), int(annotations.get(EXIT_CODE, 0)))
    fates = [of_container(each) for each in pod["spec"]["containers"]]
    if any(each is None for each in fates):
        return None
    return Fate(max(each.seconds for each in fates if each), max(each.exit_code for each in fates if each))
