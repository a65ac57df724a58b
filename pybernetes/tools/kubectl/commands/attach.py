"""attach: joins the process that a container runs."""

from __future__ import annotations

from pybernetes.tools.kubectl.commands._attaching import attach
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.resources.built_in import SCHEME
from pybernetes.tools.kubectl.resources.pods import named, pods_of

SUMMARY = "Attach to a running container"
USAGE = "attach (POD | TYPE/NAME) -c CONTAINER"
COMPLETION = "pods"
FLAGS = ("""
c container string | the container
- detach-keys string ctrl-p,ctrl-q | keys that leave the container
- pod-running-timeout duration 1m0s | how long to wait until a pod runs
q quiet bool false | only what the container prints
i stdin bool false | pass our input to the container
t tty bool false | our input is a terminal
""",)  # fmt: skip


def run(context: Context) -> None:
    """Attach until the container ends or its output does."""
    flags, args = context.flags, context.args
    if not args:
        raise CommandError("at least 1 argument is required for attach")
    if len(args) > 2:
        raise CommandError(
            f"expected POD, TYPE/NAME, or TYPE NAME, (at most 2 arguments) saw {len(args)}: [{' '.join(args)}]"
        )
    if flags.pod_running_timeout <= 0:
        raise context.usage("--pod-running-timeout must be higher than zero")
    info = named(context, args[0] if len(args) == 1 else f"{args[0]}/{args[1]}", scheme=SCHEME)
    pod = pods_of(context, info, flags.pod_running_timeout, attaching=True)[0]
    phase = (pod.get("status") or {}).get("phase")
    if phase in ("Succeeded", "Failed"):
        raise CommandError(f"cannot attach a container in a completed pod; current phase is {phase}")
    attach(context, pod, flags.container)
