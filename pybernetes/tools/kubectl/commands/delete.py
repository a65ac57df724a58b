"""delete: removes objects and waits until they are gone."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, not_found, with_source
from pybernetes.tools.kubectl.resources.builder import Builder
from pybernetes.tools.kubectl.resources.deletion import chosen_policy, delete_object
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from collections.abc import Iterable

SUMMARY = "Delete resources by file names, stdin, resources and names, or by resources and label selector"
USAGE = "delete ([-f FILENAME] | [-k DIRECTORY] | TYPE [(NAME | -l label | --all)])"
COMPLETION = "types"
FLAGS = (
    shared_flags.FILES, shared_flags.SELECTOR, shared_flags.FIELD_SELECTOR, shared_flags.ALL_NAMESPACES, shared_flags.DRY_RUN,
    shared_flags.DELETION,
    """
- all bool false | all objects of the types in the namespace
- ignore-not-found bool false | objects that do not exist are no error; the default with --all
i interactive bool false | ask before anything is deleted
- now bool false | the same as --grace-period=1
o output string | name: print only type and name
- raw string | path to DELETE, as it is
- wait bool true | wait until the objects are gone, finalizers included
""",
)  # fmt: skip


def run(context: Context) -> None:
    """Delete what the arguments name."""
    flags = context.flags
    grace = _grace(context)
    policy = chosen_policy(context)
    if flags.raw:
        from pybernetes.tools.kubectl.commands._raw_request import request_with_file

        _check(context, grace)
        if flags.interactive:
            raise CommandError("--interactive can not be used with --raw")
        request_with_file(context, "DELETE")
        return
    selecting = flags.all or flags.selector or flags.field_selector
    ignoring = flags.ignore_not_found or (bool(selecting) and "ignore-not-found" not in flags.changed)
    builder = Builder.from_flags(
        context, continue_on_error=True, require_object=False, ignore=not_found if ignoring else None
    )
    infos = builder.infos()
    _check(context, grace)
    chosen = _confirmed(context, list(infos)) if flags.interactive else infos
    if chosen is not None:
        delete_all(context, builder, chosen, grace, policy, ignoring)


def _grace(context: Context) -> int:
    flags = context.flags
    grace = flags.grace_period
    if flags.now:
        if grace != -1:
            raise CommandError("--now and --grace-period cannot be specified together")
        grace = 1
    if grace == 0 and not flags.force:
        grace = 1
    if flags.force and grace < 0:
        grace = 0
    context.dry_run()
    return grace


def _check(context: Context, grace: int) -> None:
    """Refuse flags that do not go together, after the arguments, as the original does."""
    flags = context.flags
    if flags.output not in ("", "name"):
        raise CommandError(f"unexpected -o output mode: {flags.output}. We only support '-o name'")
    if flags.all and flags.selector:
        raise CommandError("setting 'all' parameter but found a non empty selector. ")
    if flags.all and flags.field_selector:
        raise CommandError("cannot set --all and --field-selector at the same time")
    if grace == 0 and flags.force:
        context.warn(
            "Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. "
            "The resource may continue to run on the cluster indefinitely."
        )
    elif grace > 0 and flags.force:
        raise CommandError("--force and --grace-period greater than 0 cannot be specified together")


def _confirmed(context: Context, infos: list[Info]) -> list[Info] | None:
    """Return what is to be deleted; None if there is nothing, or the user declines."""
    if not infos:
        context.out("No resources found")
        return None
    context.out(f"You are about to delete the following {len(infos)} resource(s):")
    for info in infos:
        context.out(info.label)
    context.stdout.write("Do you want to continue? (y/N): ")
    context.stdout.flush()
    if context.stdin.readline().strip().lower() != "y":
        context.out("deletion is cancelled")
        return None
    return infos


def delete_all(
    context: Context,
    builder: Builder,
    infos: Iterable[Info],
    grace: int,
    policy: str,
    ignoring: bool,
    quiet: bool = False,
) -> None:
    """Delete objects one after another, then wait until all of them are gone."""
    flags = context.flags
    dry_run = flags.dry_run if flags.has("dry-run") else "none"
    warned = False
    gone: list[tuple[Info, str]] = []
    count = 0
    for info in infos:
        count += 1
        if (
            context.namespace_given
            and not builder.all_namespaces
            and not info.resource.namespaced
            and not warned
        ):
            context.warn("Warning: deleting cluster-scoped resources, not scoped to the provided namespace")
            warned = True
        if dry_run not in ("client", "unchanged"):
            try:
                uid = delete_object(context, info, grace, policy)
            except CommandError as error:
                if ignoring and not_found(error):
                    continue
                builder.errors.append(with_source(error, "deleting", info.source))
                continue
            gone.append((info, uid))
        if not quiet:
            _show(context, info, grace, dry_run)
    builder.finish()
    if not count and not quiet:
        context.out("No resources found")
        return
    if flags.wait and dry_run == "none":
        from pybernetes.tools.kubectl.resources.waiting import A_WEEK, until_gone

        context.stdout.flush()
        until_gone(context, gone, flags.timeout or A_WEEK)


def _show(context: Context, info: Info, grace: int, dry_run: str) -> None:
    if context.flags.has("output") and context.flags.output == "name":
        context.out(info.label)
        return
    operation = "force deleted" if grace == 0 else "deleted"
    if info.resource.namespaced:
        operation += f" from {info.namespace} namespace"
    operation += {"client": " (dry run)", "unchanged": " (dry run)", "server": " (server dry run)"}.get(
        dry_run, ""
    )
    context.out(f'{info.resource.kind_name} "{info.name}" {operation}')
