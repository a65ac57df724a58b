"""create job."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.create._containers import template
from pybernetes.tools.kubectl.commands.create._generator import COMMON, command_of, generator, metadata
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Create a job with the specified name"
USAGE = "create job NAME --image=image [--from=cronjob/name] -- [COMMAND] [args...]"
FLAGS = (*COMMON, """
- from string | cron job whose template the job takes: cronjob/NAME
- image string | image to run
""")  # fmt: skip


def make(context: Context, name: str) -> Object:
    """Return a Job."""
    flags, command = context.flags, command_of(context)
    if bool(flags.image) == bool(flags.__getattr__("from")):
        raise CommandError("either --image or --from must be specified")
    base: Object = {"kind": "Job", "apiVersion": "batch/v1"}
    if flags.image:
        return {
            **base,
            "metadata": metadata(context, name),
            "spec": {"template": template(name, flags.image, command, "Never")},
            "status": {},
        }
    if command:
        raise CommandError("cannot specify --from and command")
    return {**base, **_of_cronjob(context, name, flags.__getattr__("from")), "status": {}}


def _of_cronjob(context: Context, name: str, source: str) -> Object:
    kind, slash, origin = source.partition("/")
    resource = context.discovery.find(kind)
    if not slash:
        raise CommandError("resource(s) were provided, but no name was specified")
    cron_job = context.client.get(resource, context.namespace, origin)
    if resource.kind != "CronJob":
        raise CommandError(f"unknown object type *{resource.version}.{resource.kind}")
    inner = cron_job["spec"]["jobTemplate"]
    annotations = {
        "cronjob.kubernetes.io/instantiate": "manual",
        **(inner.get("metadata") or {}).get("annotations", {}),
    }
    owner = {
        "apiVersion": "batch/v1", "kind": "CronJob", "name": origin, "uid": cron_job["metadata"]["uid"], "controller": True,
    }  # fmt: skip
    labels = (inner.get("metadata") or {}).get("labels")
    meta: Object = {"name": name}
    if context.namespace_given:
        meta["namespace"] = context.namespace
    if labels:
        meta["labels"] = labels
    return {
        "metadata": {**meta, "annotations": annotations, "ownerReferences": [owner]},
        "spec": inner["spec"],
    }


run = generator(make, "failed to create job: ")
