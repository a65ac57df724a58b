"""rollout status: follows a rollout until it is done."""

from __future__ import annotations

import time

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands.rollout._arguments import check_revision, require_objects
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, quoted
from pybernetes.tools.kubectl.resources.builder import Builder
from pybernetes.tools.kubectl.resources.built_in import SCHEME
from pybernetes.tools.kubectl.resources.info import Info
from pybernetes.tools.kubectl.resources.waiting import until

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Show the status of the rollout"
USAGE = "rollout status (TYPE NAME | TYPE/NAME) [flags]"
COMPLETION = "types deployment daemonset statefulset"
FLAGS = (shared_flags.FILES, shared_flags.SELECTOR, """
- revision int 0 | the revision to follow; another one is an error
- timeout duration 0s | how long to wait; 0 is without end
w watch bool true | wait until it is done
""")  # fmt: skip


def run(context: Context) -> None:
    """Report how far each rollout is."""
    flags = context.flags
    require_objects(context)
    check_revision(context)
    builder = Builder.from_flags(
        context, empty_selector=True, latest=True, continue_on_error=True, scheme=SCHEME
    )

    def follow(info: Info) -> None:
        if info.resource.kind not in VIEWERS:
            group = f".{info.resource.group}" if info.resource.group else ""
            raise CommandError(f"no status viewer has been implemented for {info.resource.kind}{group}")
        _follow(context, info, time.monotonic() + (flags.timeout or 10**9))

    if not builder.for_each(follow):
        context.warn(f"No resources found in {context.namespace} namespace.")


def _follow(context: Context, info: Info, deadline: float) -> None:
    flags = context.flags

    def is_done(value: Object | None) -> bool:
        if value is None:
            raise CommandError("object has been deleted")
        text, done = status(value, flags.revision)
        context.stdout.write(text)
        context.stdout.flush()
        return done or not flags.watch

    try:
        until(context, info, is_done, deadline, seen=info.object)
    except CommandError as error:
        if error.message.startswith("timed out waiting for the condition on"):
            raise CommandError("timed out waiting for the condition") from None
        raise


def status(value: Object, revision: int = 0) -> tuple[str, bool]:
    """Return what to say about a workload, and whether its rollout is done."""
    return VIEWERS[value["kind"]](value, revision)


def _deployment(value: Object, revision: int) -> tuple[str, bool]:
    metadata, spec, now = value["metadata"], value.get("spec") or {}, value.get("status") or {}
    name = quoted(metadata["name"])
    if revision:
        running = int((metadata.get("annotations") or {}).get("deployment.kubernetes.io/revision") or 0)
        if running != revision:
            raise CommandError(
                f"desired revision ({revision}) is different from the running revision ({running})"
            )
    if metadata.get("generation", 0) > now.get("observedGeneration", 0):
        return "Waiting for deployment spec update to be observed...\n", False
    for condition in now.get("conditions") or ():
        if condition["type"] == "Progressing" and condition.get("reason") == "ProgressDeadlineExceeded":
            raise CommandError(f"deployment {name} exceeded its progress deadline")
    wanted = spec.get("replicas", 1)
    replicas, updated, available = (
        now.get(key, 0) for key in ("replicas", "updatedReplicas", "availableReplicas")
    )
    waiting = f"Waiting for deployment {name} rollout to finish: "
    if updated < wanted:
        return f"{waiting}{updated} out of {wanted} new replicas have been updated...\n", False
    if replicas > updated:
        return f"{waiting}{replicas - updated} old replicas are pending termination...\n", False
    if available < updated:
        return f"{waiting}{available} of {updated} updated replicas are available...\n", False
    return f"deployment {name} successfully rolled out\n", True


def _daemon_set(value: Object, revision: int) -> tuple[str, bool]:
    metadata, spec, now = value["metadata"], value.get("spec") or {}, value.get("status") or {}
    name = quoted(metadata["name"])
    if (spec.get("updateStrategy") or {}).get("type") != "RollingUpdate":
        raise CommandError("rollout status is only available for RollingUpdate strategy type")
    if metadata.get("generation", 0) > now.get("observedGeneration", 0):
        return "Waiting for daemon set spec update to be observed...\n", False
    wanted, updated = now.get("desiredNumberScheduled", 0), now.get("updatedNumberScheduled", 0)
    available = now.get("numberAvailable", 0)
    waiting = f"Waiting for daemon set {name} rollout to finish: "
    if updated < wanted:
        return f"{waiting}{updated} out of {wanted} new pods have been updated...\n", False
    if available < wanted:
        return f"{waiting}{available} of {wanted} updated pods are available...\n", False
    return f"daemon set {name} successfully rolled out\n", True


def _stateful_set(value: Object, revision: int) -> tuple[str, bool]:
    metadata, spec, now = value["metadata"], value.get("spec") or {}, value.get("status") or {}
    strategy = spec.get("updateStrategy") or {}
    if strategy.get("type") != "RollingUpdate":
        raise CommandError("rollout status is only available for RollingUpdate strategy type")
    observed = now.get("observedGeneration", 0)
    if observed == 0 or metadata.get("generation", 0) > observed:
        return "Waiting for statefulset spec update to be observed...\n", False
    wanted, ready, updated = (
        spec.get("replicas", 1),
        now.get("readyReplicas", 0),
        now.get("updatedReplicas", 0),
    )
    if ready < wanted:
        return f"Waiting for {wanted - ready} pods to be ready...\n", False
    rolling = strategy.get("rollingUpdate")
    if rolling is not None:
        aim = wanted - rolling.get("partition", 0)
        if "partition" in rolling and updated < aim:
            return (
                f"Waiting for partitioned roll out to finish: {updated} out of {aim} new pods have been updated...\n",
                False,
            )
        return f"partitioned roll out complete: {updated} new pods have been updated...\n", True
    if now.get("updateRevision") != now.get("currentRevision"):
        revision_name = now.get("updateRevision", "")
        return (
            f"waiting for statefulset rolling update to complete {updated} pods at revision {revision_name}...\n",
            False,
        )
    current = now.get("currentRevision", "")
    return (
        f"statefulset rolling update complete {now.get('currentReplicas', 0)} pods at revision {current}...\n",
        True,
    )


VIEWERS = {"Deployment": _deployment, "DaemonSet": _daemon_set, "StatefulSet": _stateful_set}
