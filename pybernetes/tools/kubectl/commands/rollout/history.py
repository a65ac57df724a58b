"""rollout history: lists revisions, or shows one."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands.rollout._arguments import check_revision, require_objects
from pybernetes.tools.kubectl.commands.rollout._history import KINDS, cause_of, revisions, template_of
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.output.elastic_tabs import align
from pybernetes.tools.kubectl.resources.builder import Builder
from pybernetes.tools.kubectl.resources.built_in import SCHEME
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "View rollout history"
USAGE = "rollout history (TYPE NAME | TYPE/NAME) [flags]"
COMPLETION = "types deployment daemonset statefulset"
FLAGS = (
    shared_flags.FILES,
    shared_flags.PRINT,
    shared_flags.SELECTOR,
    "- revision int 0 | show this revision\n",
)

_OF_PODS = ("Pod", "ReplicaSet", "ReplicationController", "Job", "CronJob")


def run(context: Context) -> None:
    """Print the history of each object."""
    require_objects(context)
    check_revision(context)
    builder = Builder.from_flags(
        context, empty_selector=True, latest=True, continue_on_error=True, scheme=SCHEME
    )
    builder.for_each(lambda info: _show(context, info))


def _show(context: Context, info: Info) -> None:
    """Print the history of an object."""
    if info.resource.kind not in KINDS:
        group = f".{info.resource.group}" if info.resource.group else ""
        if info.resource.kind in _OF_PODS:
            raise CommandError(f'no history viewer has been implemented for "{info.resource.kind}{group}"')
        raise CommandError(
            f'error retrieving history for "{info.resource.kind}{group}", no visitor method exists for '
            f"{{{info.resource.group} {info.resource.kind}}}"
        )
    if context.flags.template and not context.flags.output:  # the object itself, as the original prints it
        printers.structured(context, "go-template", printers.FORMATS)(info.object)
        return
    by_number = revisions(context, info)
    if context.flags.output:
        _structured(context, info, by_number)
        return
    context.out(_text(context, info, by_number))


def _structured(context: Context, info: Info, by_number: dict[int, Object]) -> None:
    show = printers.make(context)
    wanted = context.flags.revision
    if wanted and wanted not in by_number:
        raise CommandError("unable to find the specified revision")
    for number in [wanted] if wanted else by_number:
        show(by_number[number])


def _text(context: Context, info: Info, by_number: dict[int, Object]) -> str:
    wanted = context.flags.revision
    head = f"{info.resource.kind_name}/{info.name} "
    if not wanted:
        rows = "".join(f"{number}\t{cause_of(revision)}\n" for number, revision in by_number.items())
        if not by_number:
            return f"{head}\nNo rollout history found."
        return f"{head}\n" + align(f"REVISION\tCHANGE-CAUSE\n{rows}", gap=2)
    if not by_number:
        return f"{head}with revision #{wanted}\nNo rollout history found."
    if wanted not in by_number:
        raise CommandError("unable to find the specified revision")
    from pybernetes.tools.kubectl.describe._pods import template
    from pybernetes.tools.kubectl.describe._writer import Writer

    writer = Writer(context, info, False)
    value = template_of(info, by_number[wanted])
    cause = cause_of(by_number[wanted])
    if info.resource.kind == "Deployment" and cause != "<none>":
        metadata = value.get("metadata") or {}
        annotations = {**(metadata.get("annotations") or {}), "kubernetes.io/change-cause": cause}
        value = {**value, "metadata": {**metadata, "annotations": annotations}}
    template(writer, value)
    return f"{head}with revision #{wanted}\n{writer.raw()}"
