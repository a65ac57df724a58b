"""replace: puts objects of files in the place of those on the server."""

from __future__ import annotations

from pybernetes.tools.kubectl.apply.last_applied import annotate, read
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, not_found, with_source
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.resources.builder import Builder
from pybernetes.tools.kubectl.resources.info import Info

SUMMARY = "Replace a resource by file name or stdin"
USAGE = "replace -f FILENAME"
FLAGS = (
    shared_flags.FILES, shared_flags.PRINT, shared_flags.DRY_RUN, shared_flags.VALIDATE, shared_flags.SAVE_CONFIG, shared_flags.RECORD,
    shared_flags.DELETION, shared_flags.field_manager("kubectl-replace"),
    """
- raw string | path to PUT the file to, as it is
- subresource string | replace this subresource
- wait bool false | with --force, wait until the old objects are gone
""",
)  # fmt: skip


def run(context: Context) -> None:
    """Replace the objects of the files."""
    flags = context.flags
    context.refuse_arguments()
    dry_run = context.dry_run()
    if flags.grace_period >= 0 and not flags.force:
        raise CommandError("--grace-period must have --force specified")
    if flags.timeout and not flags.force:
        raise CommandError("--timeout must have --force specified")
    context.require_files()
    if flags.raw:
        _raw(context)
        return
    show = printers.make(context, "replaced")
    query = context.write_query()
    if flags.force:
        _force(context, dry_run)
        return
    builder = Builder.from_flags(context, continue_on_error=True)
    for info in builder.infos():
        value = annotate(info.object) if flags.save_config or read(info.object) is not None else info.object
        try:
            if dry_run != "client":
                value = context.client.replace(
                    info.resource,
                    info.namespace,
                    info.name,
                    value,
                    query=query,
                    subresource=flags.subresource,
                )
        except CommandError as error:
            builder.errors.append(with_source(error, "replacing", info.source))
            continue
        show(value)
    builder.finish()


def _raw(context: Context) -> None:
    flags = context.flags
    if len(flags.filename) != 1:
        raise context.usage("--raw can only use a single local file or stdin")
    from pybernetes.tools.kubectl.commands._raw_request import request

    request(context, "PUT", flags.raw, flags.filename[0])


def _force(context: Context, dry_run: str) -> None:
    """Delete the objects, wait until they are gone, and create them anew."""
    from pybernetes.tools.kubectl.resources.deletion import delete_object, propagation_policy
    from pybernetes.tools.kubectl.resources.waiting import until_gone

    flags = context.flags
    builder = Builder.from_flags(context)
    infos: list[Info] = builder.all()
    gone = []
    for info in infos:
        if dry_run == "client":
            continue
        try:
            gone.append(
                (
                    info,
                    delete_object(
                        context, info, max(flags.grace_period, 0), propagation_policy(flags.cascade)
                    ),
                )
            )
            context.out(
                f'{info.resource.kind_name} "{info.name}" deleted'
                + (f" from {info.namespace} namespace" if info.resource.namespaced else "")
            )
        except CommandError as error:
            if not not_found(error):
                raise
    until_gone(context, gone, flags.timeout or 300.0)
    show = printers.make(context, "replaced")
    for info in infos:
        value = annotate(info.object) if flags.save_config else info.object
        if dry_run != "client":
            value = context.client.create(info.resource, info.namespace, value, query=context.write_query())
        show(value)
