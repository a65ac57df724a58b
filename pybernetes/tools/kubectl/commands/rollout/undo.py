"""rollout undo: goes back to an earlier revision."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.apply.last_applied import ANNOTATION, read
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands.rollout._arguments import require_objects
from pybernetes.tools.kubectl.commands.rollout._history import KINDS, revisions, template_of
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.resources.builder import Builder
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


def run(context: Context) -> None:
    """Roll each object back."""
    require_objects(context)
    dry_run = context.dry_run()
    builder = Builder.from_flags(context, empty_selector=True, latest=True, continue_on_error=True)
    builder.each(lambda info: _undo(context, info, dry_run))


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
    if wanted < 0:
        raise CommandError(f"unable to find specified revision {wanted} in history")
    by_number = revisions(context, info)
    if info.resource.kind == "Deployment":
        if (info.object.get("spec") or {}).get("paused"):
            raise CommandError(
                "you cannot rollback a paused deployment; resume it first with 'kubectl rollout resume' and try again"
            )
        if len(by_number) < 2 and not wanted:
            raise CommandError(f'no rollout history found for deployment "{info.name}"')
    elif len(by_number) < 2 and not wanted:
        raise CommandError("no last revision to roll back to")
    if wanted and wanted not in by_number:
        raise CommandError(f"unable to find specified revision {wanted} in history")
    target = by_number[wanted] if wanted else by_number[sorted(by_number)[-2]]
    template = template_of(info, target)
    if dry_run == "client":
        _preview(context, info, template)
        return
    if _same(info, template):
        current = wanted or sorted(by_number)[-1]
        told = f"skipped rollback (current template already matches revision {current})"
        printers.make(context, told)(info.object)
        return
    labels = {
        k: v
        for k, v in ((template.get("metadata") or {}).get("labels") or {}).items()
        if k != "pod-template-hash"
    }
    clean = {**template, "metadata": {**(template.get("metadata") or {}), "labels": labels}}
    clean.pop("$patch", None)
    patch: list[Object] = [{"op": "replace", "path": "/spec/template", "value": clean}]
    query = {"dryRun": "All"} if dry_run == "server" else {}
    value = context.client.patch(info.resource, info.namespace, info.name, patch, "json", query=query)
    printers.make(context, "rolled back")(value)


def _same(info: Info, template: Object) -> bool:
    from pybernetes.tools.kubectl.describe.deployment import _same_template

    return _same_template(
        {"spec": {"template": {k: v for k, v in template.items() if k != "$patch"}}}, info.object
    )


def _preview(context: Context, info: Info, template: Object) -> None:
    from pybernetes.tools.kubectl.describe._pods import template as write
    from pybernetes.tools.kubectl.describe._writer import Writer

    writer = Writer(context, info, False)
    write(writer, template)
    will = "" if info.resource.kind == "Deployment" else "will roll back to "
    context.out(f"{info.label} {will}{writer.text()} (dry run)")
