"""create: makes objects from files; the files beside this one make single kinds from flags."""

from __future__ import annotations

from pybernetes.tools.kubectl.apply.last_applied import remembered
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, with_source
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.resources.builder import Builder

SUMMARY = "Create a resource from a file or from stdin"
USAGE = "create -f FILENAME"
FLAGS = (
    shared_flags.FILES, shared_flags.PRINT, shared_flags.DRY_RUN, shared_flags.VALIDATE, shared_flags.SAVE_CONFIG, shared_flags.SELECTOR,
    shared_flags.RECORD, shared_flags.field_manager("kubectl-create"),
    """
- edit bool false | edit the objects before they are created
- raw string | path to POST the file to, as it is
- windows-line-endings bool false | with --edit, end lines as Windows does
""",
)  # fmt: skip


def run(context: Context) -> None:
    """Create the objects of the files."""
    flags = context.flags
    context.refuse_arguments()
    dry_run = context.dry_run()
    context.require_files()
    if flags.raw:
        _raw(context)
        return
    if flags.edit:
        _edited(context)
        return
    show = printers.make(context, "created")
    query = context.write_query()
    builder = Builder.from_flags(context, continue_on_error=True)
    errors: list[CommandError] = []
    count = 0
    for info in builder.infos():
        value = context.record(remembered(info.object, flags.save_config))
        try:
            if dry_run != "client":
                value = context.client.create(info.resource, info.namespace, value, query=query)
        except CommandError as error:
            builder.errors.append(with_source(error, "creating", info.source))
            continue
        count += 1
        show(value)
    builder.finish()
    if not count and not errors:
        raise CommandError("no objects passed to create")


def _edited(context: Context) -> None:
    """Let the user edit the objects of files before they are created."""
    from pybernetes.tools.kubectl.commands._editor import edit_object

    for info in Builder.from_flags(context, validating=False).infos():
        value = edit_object(context, info.object)
        if value is None:
            continue
        created = context.client.create(info.resource, info.namespace, value, query=context.write_query())
        printers.make(context, "created")(created)


def _raw(context: Context) -> None:
    flags = context.flags
    if flags.edit:
        raise CommandError("--raw and --edit are mutually exclusive")
    from pybernetes.tools.kubectl.commands._raw_request import request_with_file

    request_with_file(context, "POST")
