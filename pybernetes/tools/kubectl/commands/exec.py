"""exec: runs a command in a container."""

from __future__ import annotations

from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.connection import streaming
from pybernetes.tools.kubectl.connection.client import path_of
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.resources.builder import Builder
from pybernetes.tools.kubectl.resources.built_in import SCHEME
from pybernetes.tools.kubectl.resources.pods import choose_container, named, pods_of

SUMMARY = "Execute a command in a container"
USAGE = "exec (POD | TYPE/NAME) [-c CONTAINER] [flags] -- COMMAND [args...]"
COMPLETION = "pods"
FLAGS = (shared_flags.FILES, """
c container string | the container
- pod-running-timeout duration 1m0s | how long to wait until a pod runs
q quiet bool false | only what the command prints
i stdin bool false | pass our input to the command
t tty bool false | give the command a terminal
""")  # fmt: skip


def run(context: Context) -> None:
    """Run the command and end with its exit code."""
    flags, args = context.flags, context.args
    before = flags.dash
    if before < 0 and len(args) > 1:
        raise context.usage(
            "exec [POD] [COMMAND] is not supported anymore. Use exec [POD] -- [COMMAND] instead"
        )
    if flags.pod_running_timeout <= 0:
        raise context.usage("--pod-running-timeout must be higher than zero")
    if not flags.filename and (not args or before == 0 or not args[0]):
        raise CommandError("pod, type/name or --filename must be specified")
    command = args[before:] if before >= 0 else args[1:]
    if not command:
        raise CommandError("you must specify at least one command for the container")
    if flags.filename:
        if args[: max(before, 0)]:
            raise CommandError("resource/name arguments cannot be provided when a path is specified")
        infos = Builder(context, filenames=flags.filename, kustomize=flags.kustomize, scheme=SCHEME).all()
        if len(infos) > 1:
            raise CommandError("cannot exec into multiple objects at a time")
        info = infos[0]
        # A pod of a file is taken as it is written there.
        info.object["metadata"]["namespace"] = info.namespace
    else:
        info = named(context, args[0], scheme=SCHEME)
    pod = pods_of(context, info, flags.pod_running_timeout, attaching=True)[0]
    phase = (pod.get("status") or {}).get("phase")
    if phase in ("Succeeded", "Failed"):
        raise CommandError(f"cannot exec into a container in a completed pod; current phase is {phase}")
    container = choose_container(context, pod, flags.container, quiet=flags.quiet)
    tty = flags.tty
    if tty and not context.stdin.isatty():
        tty = False
        if flags.stdin and not flags.quiet:
            context.warn("Unable to use a TTY - input is not a terminal or the right kind of file")
    code = execute(context, pod, container, command, stdin=flags.stdin, tty=tty)
    streaming.ended(code)


def execute(
    context: Context, pod: dict[str, object], container: str, command: list[str], *, stdin: bool = False,
    tty: bool = False, given: streaming.Give | None = None, output: object = None,
) -> int:  # fmt: skip
    """Run a command in a container of a pod and return its exit code."""
    metadata: dict[str, str] = pod["metadata"]  # type: ignore[assignment]
    path = path_of(context.discovery.find("pods"), metadata["namespace"], metadata["name"], "exec")
    query = [("command", word) for word in command] + [("container", container)]
    query += [(name, "true") for name, on in (("stdin", stdin), ("tty", tty)) if on]
    query += [("stdout", "true")] + ([] if tty else [("stderr", "true")])
    return streaming.run(
        context, path, query, stdin=stdin and given is None, tty=tty, given=given, output=output
    )
