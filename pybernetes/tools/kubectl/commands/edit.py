"""edit: changes objects in an editor."""

from __future__ import annotations

import os

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.apply.last_applied import annotate
from pybernetes.tools.kubectl.apply.three_way_patch import edit_patch
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands._editor import HEAD, as_text, in_editor, parsed, without_comments
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import ApiError, CommandError, Exit, not_found
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
        context, latest=True, subresource=flags.subresource, empty_selector=True, validating=False
    )
    infos = builder.all()
    if not infos:
        raise CommandError("edit cancelled, no objects found")
    printers.structured(
        context, flags.output or "yaml", ("json", "kyaml", "yaml")
    )  # what the editor can show
    _session(context, infos)


class Results:
    """What came of an attempt: reasons to edit again, and how many objects need something else."""

    def __init__(self) -> None:
        self.reasons: list[str] = []
        self.retryable = self.missing = 0

    def invalid(self, info: Info, causes: list[str]) -> str:
        """Note that an object is to be edited again, and return what to say."""
        named = f'{info.resource.full_name} "{info.name}"'
        self.reasons += [
            f"{named} was not valid{':' if causes else ''}",
            *(f"* {cause}" for cause in causes),
            "",
        ]
        return f"error: {named} is invalid"

    def head(self) -> str:
        """Return the comment that the editor shows above the object."""
        lines = [line for reason in self.reasons for line in (reason.split("\n") if reason else [""])]
        return HEAD + "".join(f"# {line}".rstrip() + "\n" for line in lines)


def _session(context: Context, infos: list[Info]) -> None:
    flags = context.flags
    form = "json" if flags.output == "json" else "yaml"
    plain = [
        info.object if flags.show_managed_fields else printers.without_managed(info.object) for info in infos
    ]
    several = {"apiVersion": "v1", "items": plain, "kind": "List", "metadata": {}}
    original = body = as_text(plain[0] if len(plain) == 1 else several, form)
    results, kept = Results(), ""
    while True:
        edited, file = in_editor(context, results.head() + body, f".{form}")
        if results.reasons and without_comments(edited) == without_comments(body):
            _preserved(context, file)
            raise CommandError("Edit cancelled, no valid changes were saved.")
        if kept:
            os.unlink(kept)
        kept, body, results = file, without_comments(edited), Results()
        if body == without_comments(original):
            os.unlink(file)
            context.warn("Edit cancelled, no changes made.")
            return
        try:
            value = parsed(edited)
            if value is None:
                raise CommandError("EOF")
        except CommandError as error:
            cause = f'<nil>: Invalid value: "The edited file failed validation": {error.message}'
            context.warn(results.invalid(infos[0], [cause]))
            continue
        try:
            _send_all(context, infos, plain, value, results)
        except CommandError:
            _preserved(context, file)
            raise
        if results.retryable:
            context.warn(f"You can run `kubectl replace -f {file}` to try this update again.")
            raise Exit(1)
        if results.missing:
            context.warn(f'The edits you made on deleted resources have been saved to "{file}"')
            raise Exit(1)
        if not results.reasons:
            os.unlink(file)
            return


def _preserved(context: Context, path: str) -> None:
    context.warn(f'A copy of your changes has been stored to "{path}"')


def _send_all(
    context: Context, infos: list[Info], plain: list[Object], value: Object, results: Results
) -> None:
    """Send each object that was changed."""
    edited = value.get("items") or [] if value.get("kind") == "List" and len(infos) > 1 else [value]
    for after in edited:
        try:
            context.discovery.of_kind(str(after.get("apiVersion")), str(after.get("kind")))
        except CommandError as error:
            results.reasons += [f"The edited file had a syntax error: {error.message}", ""]
            return
    for after in edited:
        uid = (after.get("metadata") or {}).get("uid")
        matches = [pair for pair in zip(infos, plain, strict=True) if pair[1]["metadata"].get("uid") == uid]
        if not matches:
            raise CommandError(f"no original object found for {(after.get('metadata') or {}).get('name')}")
        _send(context, *matches[0], after, results)


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
