"""scale: sets the number of replicas."""

from __future__ import annotations

import time

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import ApiError, CommandError, quoted
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.resources.builder import Builder
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from pybernetes.api.resource import Object
    from pybernetes.tools.kubectl.command_line.flags import Values


SUMMARY = "Set a new size for a deployment, replica set, or replication controller"
USAGE = (
    "scale [--resource-version=version] [--current-replicas=count] --replicas=COUNT (-f FILENAME | TYPE NAME)"
)
COMPLETION = "types deployment replicaset replicationcontroller statefulset"
FLAGS = (
    shared_flags.FILES, shared_flags.PRINT, shared_flags.DRY_RUN, shared_flags.SELECTOR, shared_flags.RECORD,
    """
- all bool false | all objects of the types in the namespace
- current-replicas int -1 | only if this is the number now
- replicas int 0 | the number that is wanted
- resource-version string | only if the object has this version
- timeout duration 0s | how long to wait until it is so; 0 does not wait
""",
)  # fmt: skip
REQUIRED = ("replicas",)


def run(context: Context) -> None:
    """Scale what the arguments name."""
    flags = context.flags
    dry_run = context.dry_run()
    if flags.replicas < 0:
        raise CommandError(
            "The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0"
        )
    if flags.current_replicas < -1:
        raise CommandError("The --current-replicas must specify an integer of -1 or greater")
    builder = Builder.from_flags(context, continue_on_error=True, select_all=False, empty_selector=flags.all)
    infos = builder.all()
    if flags.resource_version and len(infos) > 1:
        raise CommandError("cannot use --resource-version with multiple resources")
    if not infos:
        builder.finish()
        raise CommandError("no objects passed to scale")
    show = printers.make(context, "scaled")
    for info in infos:
        if dry_run != "client":
            _scale(context, info)
        if info.resource.group in ("", "apps"):
            info.object.setdefault("spec", {})["replicas"] = flags.replicas
        show(info.object)
    builder.finish()


def _scale(context: Context, info: Info) -> None:
    flags = context.flags
    client = context.client
    query = {"dryRun": "All"} if flags.dry_run == "server" else {}
    for attempt in range(10):
        if flags.current_replicas >= 0 or flags.resource_version:
            current: Object = client.get(info.resource, info.namespace, info.name, subresource="scale")
            _check(info, flags, current)
            wanted = {**current, "spec": {**(current.get("spec") or {}), "replicas": flags.replicas}}
            try:
                client.replace(
                    info.resource, info.namespace, info.name, wanted, subresource="scale", query=query
                )
            except ApiError as error:
                if error.reason != "Conflict" or attempt == 9:
                    raise
                continue
        else:
            patch = {"spec": {"replicas": flags.replicas}}
            client.patch(info.resource, info.namespace, info.name, patch, subresource="scale", query=query)
        break
    if flags.record:
        client.patch(info.resource, info.namespace, info.name, context.record({}), query=query)
    if flags.timeout and flags.dry_run == "none":
        _wait(context, info)


def _check(info: Info, flags: Values, current: Object) -> None:
    size = (current.get("spec") or {}).get("replicas") or 0
    if flags.current_replicas >= 0 and size != flags.current_replicas:
        raise CommandError(f"Expected replicas to be {flags.current_replicas}, was {size}")
    version = current["metadata"].get("resourceVersion")
    if flags.resource_version and version != flags.resource_version:
        raise CommandError(f"Expected resource version to be {flags.resource_version}, was {version}")


def _wait(context: Context, info: Info) -> None:
    from pybernetes.tools.kubectl.resources.waiting import TimedOut, until

    wanted = context.flags.replicas

    def is_there(value: Object | None) -> bool:
        if ((value or {}).get("spec") or {}).get("replicas", wanted) != wanted:
            return True  # somebody else has set another number
        status = (value or {}).get("status") or {}
        observed = status.get("observedGeneration", 0) >= ((value or {}).get("metadata") or {}).get(
            "generation", 0
        )
        return observed and (status.get("replicas") or 0) == wanted

    try:
        if context.flags.timeout < 0:
            raise TimedOut
        until(context, info, is_there, time.monotonic() + context.flags.timeout)
    except TimedOut:
        raise CommandError(f"timed out waiting for {quoted(info.name)} to be synced") from None
