"""apply edit-last-applied: edits what was applied last, in an editor."""

from __future__ import annotations

import json

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.apply.last_applied import ANNOTATION, configuration, read
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands._edit_session import session
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.resources.builder import Builder
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Edit latest last-applied-configuration annotations of a resource/object"
USAGE = "apply edit-last-applied (RESOURCE/NAME | -f FILENAME)"
COMPLETION = "types"
FLAGS = (
    shared_flags.FILES, shared_flags.PRINT, shared_flags.VALIDATE, shared_flags.RECORD,
    shared_flags.field_manager("kubectl-client-side-apply"),
    "- windows-line-endings bool false | end lines as Windows does\n",
)  # fmt: skip


_HEAD = """# Please edit the 'last-applied-configuration' annotations below.
# Lines beginning with a '#' will be ignored, and an empty file will abort the edit.
#
"""


def run(context: Context) -> None:
    """Edit the annotations, those of several objects as a list; objects without one are left out."""
    builder = Builder.from_flags(
        context, latest=True, empty_selector=True, validating=False, continue_on_error=True
    )
    selected = builder.all()
    builder.finish()
    infos = [_applied(context, text) for text in (read(info.object) for info in selected) if text]
    if not infos:
        raise CommandError(
            "no last-applied-configuration annotation found on resources, to create the annotation, use command "
            "`kubectl apply set-last-applied --create-annotation`"
        )
    shown = [info.object for info in infos]
    session(context, infos, shown, lambda after, info, _: _send(context, info.object, after), _HEAD)


def _applied(context: Context, text: str) -> Info:
    value = json.loads(text)
    resource = context.discovery.of_kind(str(value.get("apiVersion")), str(value.get("kind")))
    return Info(resource, context.namespace, (value.get("metadata") or {}).get("name", ""), value)


def _send(context: Context, before: Object, after: Object) -> None:
    if after == before:
        printers.make(context, "skipped")(after)
        return
    name = (after.get("metadata") or {}).get("name")
    if not name:
        raise CommandError("resource name may not be empty")
    resource = context.discovery.of_kind(after["apiVersion"], after["kind"])
    patch = {"metadata": {"annotations": {ANNOTATION: configuration(after)}}}
    context.client.patch(resource, context.namespace, name, patch, query=context.write_query())
    printers.make(context, "edited")(after)
