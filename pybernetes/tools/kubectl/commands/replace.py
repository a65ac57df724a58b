"""replace: puts objects of files in the place of those on the server."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.apply.last_applied import remembered
from pybernetes.tools.kubectl.apply.recreation import create_or_restore
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.connection.client import path_of
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, NoConnection, not_found, with_source
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.resources.builder import Builder
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from pybernetes.api.resource import Object

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
    if not flags.raw:
        context.require_files()
    context.refuse_arguments()
    dry_run = context.dry_run()
    if flags.grace_period >= 0 and not flags.force:
        raise CommandError("--grace-period must have --force specified")
    if flags.timeout and not flags.force:
        raise CommandError("--timeout must have --force specified")
    if "cascade" in flags.changed:
        from pybernetes.tools.kubectl.resources.deletion import propagation_policy

        propagation_policy(flags.cascade)
    if flags.force and dry_run != "none":
        raise CommandError("--dry-run can not be used when --force is set")
    context.require_files()
    if flags.raw:
        from pybernetes.tools.kubectl.commands._raw_request import request_with_file

        request_with_file(context, "PUT")
        return
    show = printers.make(context, "replaced")
    query = context.write_query()
    if flags.force:
        _force(context)
        return
    builder = Builder.from_flags(context, continue_on_error=True)
    for info in builder.infos():
        value = _annotated(context, info)
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


def _annotated(context: Context, info: Info) -> Object:
    """Return the object of a file with what is to be remembered of it."""
    return context.record(remembered(info.object, context.flags.save_config))


def _not_deleted(context: Context, info: Info, error: CommandError) -> CommandError:
    if isinstance(error, NoConnection):
        path = path_of(info.resource, info.namespace, info.name)
        error.about("DELETE", context.client.access.server + path)
    return with_source(error, "deleting", info.source)


def _force(context: Context) -> None:
    """Delete the objects, wait until they are gone, and create them anew; one that cannot be created is restored."""
    from pybernetes.tools.kubectl.resources.deletion import delete_object, propagation_policy
    from pybernetes.tools.kubectl.resources.waiting import TimedOut, until_gone

    flags = context.flags
    policy = propagation_policy(flags.cascade)
    grace = 1 if flags.grace_period == 0 else flags.grace_period
    builder = Builder.from_flags(context, continue_on_error=True, validating=False)
    infos: list[Info] = builder.all()
    builder.finish()
    before: dict[int, Object] = {}
    gone = []
    for place, info in enumerate(infos):
        try:
            before[place] = context.client.get(info.resource, info.namespace, info.name)
            gone.append((info, delete_object(context, info, grace, policy)))
        except CommandError as error:
            if not not_found(error):
                raise _not_deleted(context, info, error) from None
            continue
        where = f" from {info.namespace} namespace" if info.resource.namespaced else ""
        context.out(f'{info.resource.kind_name} "{info.name}" deleted{where}')
    try:
        until_gone(context, gone, flags.timeout or 300.0)
    except TimedOut:
        raise CommandError("context deadline exceeded") from None
    show = printers.make(context, "replaced")
    query = context.write_query()
    for place, info in enumerate(infos):
        value = _annotated(context, info)
        show(create_or_restore(context, info, value, before.get(place), query))
    if not infos:
        raise CommandError("no objects passed to replace")
