"""edit: changes objects in an editor."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.apply.last_applied import annotate
from pybernetes.tools.kubectl.apply.three_way_patch import edit_patch
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands._edit_session import Results, session
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import ApiError, CommandError, not_found
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.resources.builder import Builder
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Edit a resource on the server"
USAGE = "edit (RESOURCE/NAME | -f FILENAME)"
COMPLETION = "types"
FLAGS = (
    shared_flags.FILES, shared_flags.PRINT, shared_flags.VALIDATE, shared_flags.SAVE_CONFIG, shared_flags.RECORD,
    shared_flags.field_manager("kubectl-edit"),
    """
- output-patch bool false | print the patch that is sent
- subresource string | edit this subresource
- windows-line-endings bool false | end lines as Windows does
""",
)  # fmt: skip


def run(context: Context) -> None:
    """Edit what the arguments name, several objects as a list."""
    flags = context.flags
    builder = Builder.from_flags(
        context, latest=True, subresource=flags.subresource, empty_selector=True, validating=False,
        continue_on_error=True,
    )  # fmt: skip
    infos = builder.all()
    builder.finish()
    if not infos:
        raise CommandError("edit cancelled, no objects found")
    printers.structured(
        context, flags.output or "yaml", ("json", "kyaml", "yaml")
    )  # what the editor can show
    shown = {id(info): printers.without_managed(info.object) for info in infos}
    if flags.show_managed_fields:
        shown = {id(info): info.object for info in infos}
    session(
        context, infos, list(shown.values()),
        lambda after, info, results: _send(context, info, shown[id(info)], after, results),
    )  # fmt: skip


def _send(context: Context, info: Info, before: Object, after: Object, results: Results) -> None:
    flags = context.flags
    if after == before:
        printers.make(context, "skipped")(after)
        return
    if flags.save_config:
        after = annotate(after)
    after = context.record(after)
    same = (after.get("apiVersion"), after.get("kind"), after["metadata"].get("name"))
    if same != (before["apiVersion"], before["kind"], info.name):
        raise CommandError("At least one of apiVersion, kind and name was changed")
    patch, kind = edit_patch(info.resource, before, after)
    if flags.output_patch:
        from pybernetes.tools.kubectl.output.json import dumps

        context.out(f"Patch: {dumps(patch, indent=None)}")
    named = f'{info.resource.full_name} "{info.name}"'
    try:
        value = context.client.patch(
            info.resource, info.namespace, info.name, patch, kind, query=context.write_query(),
            subresource=flags.subresource,
        )  # fmt: skip
    except ApiError as error:
        if error.reason == "Invalid":
            causes = (error.status.get("details") or {}).get("causes") or ()
            context.warn(
                results.invalid(info, [f"{cause.get('field')}: {cause.get('message')}" for cause in causes])
            )
        elif not_found(error):
            results.missing += 1
            context.warn(f"error: {named} could not be found on the server")
        else:
            results.retryable += 1
            context.warn(f"error: {named} could not be patched: {error.message}")
        return
    printers.make(context, "edited")(value)
