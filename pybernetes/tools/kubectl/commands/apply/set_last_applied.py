"""apply set-last-applied: sets the annotation to what files hold, without changing anything else."""

from __future__ import annotations

from pybernetes.tools.kubectl.apply.last_applied import ANNOTATION, configuration, read
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.resources.builder import Builder

SUMMARY = "Set the last-applied-configuration annotation on a live object to match the contents of a file"
USAGE = "apply set-last-applied -f FILENAME"
FLAGS = (
    shared_flags.FILES, shared_flags.PRINT, shared_flags.DRY_RUN,
    "- create-annotation bool false | make the annotation if there is none\n",
)  # fmt: skip


def run(context: Context) -> None:
    """Set the annotation of each object in the files."""
    flags = context.flags
    dry_run = context.dry_run()
    if not flags.filename:
        raise CommandError("must specify one of -f and -k")
    builder = Builder.from_flags(context)
    work = []
    for info in builder.infos():
        live = context.client.get(info.resource, info.namespace, info.name)
        if read(live) is None and not flags.create_annotation:
            raise CommandError(
                f"no last-applied-configuration annotation found on resource: {info.name}, to create the annotation, "
                "run the command with --create-annotation"
            )
        text = configuration(info.object, complete=False)
        if read(live) == text:
            context.out(f"set-last-applied {info.name}: no changes required.")
        else:
            work.append((info, live, text))
    for info, live, text in work:
        value = live
        if dry_run != "client":
            patch = {"metadata": {"annotations": {ANNOTATION: text}}}
            query = {"dryRun": "All"} if dry_run == "server" else {}
            value = context.client.patch(info.resource, info.namespace, info.name, patch, query=query)
        printers.make(context, "configured")(value)
