"""apply edit-last-applied: edits what was applied last, in an editor."""

from __future__ import annotations

import json

from pybernetes.tools.kubectl.apply.last_applied import ANNOTATION, configuration, read
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands._editor import edit_object
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.resources.builder import Builder

SUMMARY = "Edit latest last-applied-configuration annotations of a resource/object"
USAGE = "apply edit-last-applied (RESOURCE/NAME | -f FILENAME)"
COMPLETION = "types"
FLAGS = (
    shared_flags.FILES, shared_flags.PRINT, shared_flags.VALIDATE, shared_flags.RECORD,
    shared_flags.field_manager("kubectl-client-side-apply"),
    "- windows-line-endings bool false | end lines as Windows does\n",
)  # fmt: skip


def run(context: Context) -> None:
    """Edit the annotation of each object."""
    for info in Builder.from_flags(context, latest=True, empty_selector=True, validating=False).infos():
        last = read(info.object)
        if last is None:
            raise CommandError(f"no last-applied-configuration annotation found on resource: {info.name}")
        before = json.loads(last)
        after = edit_object(context, before)
        if after is None or after == before:
            context.warn("Edit cancelled, no changes made.")
            continue
        patch = {"metadata": {"annotations": {ANNOTATION: configuration(after)}}}
        value = context.client.patch(
            info.resource, info.namespace, info.name, patch, query=context.write_query()
        )
        printers.make(context, "edited")(value)
