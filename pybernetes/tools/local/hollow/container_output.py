"""What a hollow container would print, and how a command in it would end: from annotations and from commands alone."""

from __future__ import annotations

from typing import NamedTuple

from pybernetes.api.resource import Object
from pybernetes.tools.local.hollow import container_exit

LOGS = "hollow.pybernetes.io/logs"  # for all containers of a pod; with ".NAME" behind it for one of them
EXEC = "hollow.pybernetes.io/exec-output"  # what any command prints that is not understood


class Executed(NamedTuple):
    """What became of a command: its output, the Status that a client gets, and how long it took."""

    output: str
    status: Object
    seconds: float = 0.0


def text_of(pod: Object, container: Object) -> str:
    """Return all that a container has printed."""
    annotations = pod["metadata"].get("annotations") or {}
    text = annotations.get(f"{LOGS}.{container['name']}", annotations.get(LOGS))
    if text is None:
        script = container_exit.script_of(container, pod)
        text = script.output if script is not None else ""
    return text if not text or text.endswith("\n") else f"{text}\n"


def log(
    pod: Object, container: Object, *, tail: int | None = None, limit: int | None = None, timestamps: bool = False
) -> bytes:  # fmt: skip
    """Return the log of a container, as far as it is asked for; every line is as old as the container."""
    lines = text_of(pod, container).splitlines(keepends=True)
    if tail is not None:
        lines = lines[-tail:] if tail else []
    if timestamps:
        moment = pod.get("status", {}).get("startTime") or pod["metadata"].get("creationTimestamp", "")
        lines = [f"{moment} {line}" for line in lines]
    return "".join(lines).encode()[:limit]


def executed(pod: Object, container: Object, command: list[str]) -> Executed:
    """Return what becomes of a command in a container."""
    script = container_exit.script_of({**container, "command": command, "args": []}, pod)
    if script is not None:
        return Executed(script.output, _ended(script.code), script.seconds)
    output = (pod["metadata"].get("annotations") or {}).get(EXEC)
    if output is not None:
        return Executed(output if output.endswith("\n") else f"{output}\n", _ended(0))
    message = f"nothing runs in a hollow pod: it does not understand {command[0][:100]!r}, and has no annotation {EXEC}"
    failure = {
        "metadata": {},
        "status": "Failure",
        "reason": "InternalError",
        "message": message,
        "code": 500,
    }
    return Executed("", failure)


def _ended(code: int) -> Object:
    """Return the Status by which clients know how a command ended."""
    if not code:
        return {"metadata": {}, "status": "Success"}
    return {
        "metadata": {},
        "status": "Failure",
        "reason": "NonZeroExitCode",
        "message": f"command terminated with non-zero exit code: exit status {code}",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]},
    }
