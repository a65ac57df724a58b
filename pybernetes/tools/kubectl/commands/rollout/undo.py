"""rollout undo: goes back to an earlier revision."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.apply.last_applied import ANNOTATION, read
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands.rollout._arguments import require_objects
from pybernetes.tools.kubectl.commands.rollout._history import KINDS, revisions, template_of
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.describe.deployment import same_template, without_hash
from pybernetes.tools.kubectl.errors import ApiError, CommandError
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.resources.builder import Builder
from pybernetes.tools.kubectl.resources.built_in import SCHEME
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Undo a previous rollout"
USAGE = "rollout undo (TYPE NAME | TYPE/NAME) [flags]"
COMPLETION = "types deployment daemonset statefulset"
FLAGS = (
    shared_flags.FILES, shared_flags.PRINT, shared_flags.DRY_RUN, shared_flags.SELECTOR,
    "- to-revision int 0 | the revision to go back to; 0 is the one before\n",
)  # fmt: skip
_WARNING = (
    "Warning: resource {label} was previously managed with 'kubectl apply'. Rolling back will not update the {annotation} "
    "annotation, which may cause unexpected behavior on future 'kubectl apply' operations. Consider using 'kubectl apply' "
    "with your previous configuration file instead."
)


_OF_NOW = {
    ANNOTATION,
    *(f"deployment.kubernetes.io/{name}" for name in ("revision", "revision-history", "desired-replicas", "max-replicas")),
    "deprecated.deployment.rollback.to",
}  # fmt: skip


def run(context: Context) -> None:
    """Roll each object back."""
    require_objects(context)
    dry_run = context.dry_run()
    builder = Builder.from_flags(
        context, empty_selector=True, latest=True, continue_on_error=True, scheme=SCHEME
    )
    builder.for_each(lambda info: _undo(context, info, dry_run))


def _undo(context: Context, info: Info, dry_run: str) -> None:
    if info.resource.kind not in KINDS:
        group = f".{info.resource.group}" if info.resource.group else ""
        named = f'"{info.resource.kind}{group}"'
        if info.resource.kind in ("Pod", "ReplicaSet", "ReplicationController", "Job", "CronJob"):
            raise CommandError(f"no rollbacker has been implemented for {named}")
        which = f"{{{info.resource.group} {info.resource.kind}}}"
        raise CommandError(f"error retrieving rollbacker for {named}, no visitor method exists for {which}")
    if read(info.object) is not None:
        context.warn(_WARNING.format(label=f"{info.resource.plural}/{info.name}", annotation=ANNOTATION))
    wanted = context.flags.to_revision
    target = _chosen(info, {} if wanted < 0 else revisions(context, info), wanted)
    template = template_of(info, target)
    if dry_run == "client":
        _preview(context, info, template)
        return
    if info.resource.kind == "Deployment" and (info.object.get("spec") or {}).get("paused"):
        raise CommandError(
            "you cannot rollback a paused deployment; resume it first with 'kubectl rollout resume' and try again"
        )
    if same_template(template, (info.object.get("spec") or {}).get("template") or {}):
        done = f"skipped rollback (current template already matches revision {wanted})"
    else:
        patch, how = restoring(info.object, target)
        query = {"dryRun": "All"} if dry_run == "server" else {}
        try:
            context.client.patch(info.resource, info.namespace, info.name, patch, how, query=query)
        except ApiError as error:
            raise CommandError(f"failed restoring revision {wanted}: {error.message}") from error
        done = "rolled back"
    printers.make(context, done)(info.object)


def _chosen(info: Info, by_number: dict[int, Object], wanted: int) -> Object:
    if wanted:
        if wanted not in by_number:
            raise CommandError(f"unable to find specified revision {wanted} in history")
        return by_number[wanted]
    if len(by_number) < 2:
        if info.resource.kind == "Deployment":
            raise CommandError(f'no rollout history found for deployment "{info.name}"')
        raise CommandError("no last revision to roll back to")
    return by_number[sorted(by_number)[-2]]


def restoring(value: Object, revision: Object) -> tuple[list[Object] | Object, str]:
    """Return the patch that brings an object back to a revision, and what kind of patch it is.

    A replica set has the annotations that the deployment had, its change cause above all: they come back, too.
    """
    if "data" in revision:
        return revision["data"], "strategic"
    now, then = (obj["metadata"].get("annotations") or {} for obj in (value, revision))
    annotations = {name: text for name, text in now.items() if name in _OF_NOW}
    annotations |= {name: text for name, text in then.items() if name not in _OF_NOW}
    return [
        {"op": "replace", "path": "/spec/template", "value": without_hash(revision["spec"]["template"])},
        {"op": "replace", "path": "/metadata/annotations", "value": annotations},
    ], "json"


def _preview(context: Context, info: Info, template: Object) -> None:
    from pybernetes.tools.kubectl.describe._pods import template as write
    from pybernetes.tools.kubectl.describe._writer import Writer

    writer = Writer(context, info, False)
    write(writer, template)
    will = "" if info.resource.kind == "Deployment" else "will roll back to "
    context.out(f"{info.label} {will}{writer.text()} (dry run)")
