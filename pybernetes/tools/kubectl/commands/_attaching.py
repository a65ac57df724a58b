"""Attaching to containers, for attach, run and debug."""

from __future__ import annotations

import time

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.connection import streaming
from pybernetes.tools.kubectl.connection.client import path_of
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, Verbatim
from pybernetes.tools.kubectl.resources.info import Info
from pybernetes.tools.kubectl.resources.pods import choose_container, containers, wait_running
from pybernetes.tools.kubectl.resources.waiting import TimedOut, until

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


_RECORDED = (
    "All commands and output from this session will be recorded in container logs, including credentials and "
    "sensitive information passed through the command prompt."
)


def attach(context: Context, pod: Object, name: str) -> None:
    """Join our input and output with those of a container."""
    flags = context.flags
    try:
        container = choose_container(context, pod, name, quiet=flags.quiet)
    except CommandError as error:
        raise CommandError(f"cannot attach to the container: {error.message}") from None
    spec = next(candidate for candidate in containers(pod) if candidate["name"] == container)
    tty = flags.tty
    if tty and not spec.get("tty"):
        tty = False
        if not flags.quiet:
            context.warn(f"error: Unable to use a TTY - container {container} did not allocate one")
    elif not tty and spec.get("tty"):
        tty = True
    terminal = tty and flags.stdin and context.stdin.isatty()
    if tty and flags.stdin and not terminal and not flags.quiet:
        context.warn("Unable to use a TTY - input is not a terminal or the right kind of file")
    if not flags.quiet:
        context.warn(_RECORDED)
        context.warn("If you don't see a command prompt, try pressing enter.")
    stdin = flags.stdin
    namespace, pod_name = pod["metadata"]["namespace"], pod["metadata"]["name"]
    path = path_of(context.discovery.find("pods"), namespace, pod_name, "attach")
    query = [("container", container), ("stdout", "true")]
    query += [
        (key, "true") for key, on in (("stdin", stdin), ("tty", terminal), ("stderr", not terminal)) if on
    ]
    streaming.run(context, path, query, stdin=stdin, tty=terminal, redraw=True)
    if terminal and not flags.quiet:
        again = f"kubectl attach {pod_name} -c {container} -n {namespace} -i -t"
        if spec in ((pod.get("spec") or {}).get("ephemeralContainers") or ()):
            context.out(
                "Session ended, the ephemeral container will not be restarted but may be reattached using "
                f"'{again}' if it is still running"
            )
        else:
            context.out(f"Session ended, resume using '{again}' command")


def attach_when_started(context: Context, pod: Object, name: str) -> None:
    """Attach to a container that ``debug`` made; where it has ended, or nobody can attach, its logs are printed."""
    from pybernetes.tools.kubectl.commands.logs import print_logs

    pod = _started(context, pod, name)
    if "terminated" in _state(pod, name):
        print_logs(context, pod, name, {})
        return
    try:
        attach(context, pod, name)
    except CommandError as error:
        context.warn(
            f"warning: couldn't attach to pod/{pod['metadata']['name']}, falling back to streaming logs: {error.message}"
        )
        print_logs(context, pod, name, {})


def _started(context: Context, pod: Object, name: str) -> Object:
    """Wait until a container of a pod runs or has ended, and tell what it waits for."""
    info = Info(context.discovery.find("pods"), pod["metadata"]["namespace"], pod["metadata"]["name"], pod)

    def runs(value: Object | None) -> bool:
        if value is None:
            return True
        state = _state(value, name)
        why = (state.get("waiting") or {}).get("message")
        if why and not context.flags.quiet:
            context.warn(f"Warning: container {name}: {why}")
        return "waiting" not in state

    running = until(context, info, runs, time.monotonic() + context.flags.pod_running_timeout)
    if running is None:
        raise CommandError(f'pods "{info.name}" not found')
    return running


def _state(pod: Object, name: str) -> Object:
    """Return the state of a container of any sort: waiting if nothing is known of it."""
    status = pod.get("status") or {}
    for key in ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"):
        for container_status in status.get(key) or ():
            if container_status["name"] == name:
                return container_status.get("state") or {"waiting": {}}
    return {"waiting": {}}


def follow(context: Context, info: Info) -> int:
    """Wait for the pod that ``run`` made, attach to it, return its exit code, and delete it if asked."""
    flags = context.flags
    from pybernetes.tools.kubectl.commands.logs import print_logs

    try:
        try:
            pod = wait_running(context, info.object, flags.pod_running_timeout)
        except TimedOut:
            raise TimedOut("timed out waiting for the condition") from None
        first = pod["spec"]["containers"][0]["name"]
        try:
            if pod["status"]["phase"] == "Running":
                print_logs(context, pod, first, {})  # what came before we are attached
                attach(context, pod, first)
            else:
                print_logs(context, pod, first, {})
        except CommandError as error:
            context.warn(
                f"warning: couldn't attach to pod/{info.name}, falling back to streaming logs: {error.message}"
            )
            print_logs(context, pod, first, {"follow": True})
        if flags.leave_stdin_open or flags.restart == "Always":
            return 0
        return _result(context, info)
    finally:
        if flags.rm:
            from pybernetes.tools.kubectl.resources.deletion import delete_object

            delete_object(context, info, -1, "Background")
            if not flags.quiet:
                context.out(f'pod "{info.name}" deleted from {info.namespace} namespace')


def _result(context: Context, info: Info) -> int:
    def over(value: Object | None) -> bool:
        return value is None or (value.get("status") or {}).get("phase") in ("Succeeded", "Failed")

    pod = until(context, info, over, time.monotonic() + context.flags.pod_running_timeout) or {}
    status = pod.get("status") or {}
    if status.get("phase") != "Failed":
        return 0
    state = ((status.get("containerStatuses") or [{}])[0].get("state") or {}).get("terminated") or {}
    code = state.get("exitCode")
    if not code:
        raise CommandError(f"pod {info.namespace}/{info.name} failed with unknown exit code")
    raise Verbatim(
        f"pod {info.namespace}/{info.name} terminated ({state.get('reason', '')})\n{state.get('message', '')}",
        code,
    )
