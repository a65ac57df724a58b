"""apply: makes objects what files say, remembering what files said before."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.apply.client_side import client_side
from pybernetes.tools.kubectl.apply.server_side import server_side
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, raise_all
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.resources.builder import Builder

if TYPE_CHECKING:
    from pybernetes.tools.kubectl.apply.applyset import ApplySet

SUMMARY = "Apply a configuration to a resource by file name or stdin"
USAGE = "apply (-f FILENAME | -k DIRECTORY)"
FLAGS = (
    shared_flags.FILES, shared_flags.PRINT, shared_flags.DRY_RUN, shared_flags.VALIDATE, shared_flags.SELECTOR, shared_flags.RECORD,
    shared_flags.DELETION, shared_flags.field_manager("kubectl-client-side-apply"),
    """
- all bool false | with --prune, all objects of the types in the namespace
- force-conflicts bool false | with --server-side, take fields that others manage
- openapi-patch bool true | use the server's schema to compute patches
- overwrite bool true | settle conflicts between files and live objects for the files
- prune bool false | delete objects that were applied before and are no longer in the files
- prune-allowlist array | group/version/kind that --prune may delete
- server-side bool false | let the server apply
- subresource string | with --server-side, the subresource to apply to
- wait bool false | wait until pruned objects are gone
""",
)  # fmt: skip
GATED = {
    "KUBECTL_APPLYSET": "- applyset string | [RESOURCE][.GROUP]/NAME of the object that tracks what is applied"
}


def run(context: Context) -> None:
    """Apply the files."""
    flags = context.flags
    context.refuse_arguments()
    if "cascade" in flags.changed:
        from pybernetes.tools.kubectl.resources.deletion import propagation_policy

        propagation_policy(flags.cascade)
    applyset = _check(context)
    if flags.server_side and "field-manager" not in flags.changed:
        flags.set("field-manager", "kubectl")
    if flags.prune and applyset is None:
        from pybernetes.tools.kubectl.apply.prune import allowed, named, prune

        prunable = named(context)  # complain before anything is done
    builder = Builder.from_flags(context, continue_on_error=True, select_all=False)
    infos = builder.all()
    if not infos and not builder.errors:
        raise CommandError("no objects passed to apply")
    structured = flags.output not in ("", "name")
    if structured:
        printers.make(context)  # complain before anything is done
    if applyset is not None:
        applyset.before(infos)
    for info in infos:
        try:
            operation = server_side(context, info) if flags.server_side else client_side(context, info)
        except CommandError as error:
            builder.errors.append(error)
            continue
        if not structured:
            printers.make(context, operation)(info.object)
    raise_all(builder.errors)
    if structured and infos:
        if len(infos) == 1:
            printers.make(context)(infos[0].object)
        else:
            items = [info.object for info in infos]
            printers.make(context)({"apiVersion": "v1", "items": items, "kind": "List", "metadata": {}})
    if applyset is not None:
        applyset.prune(infos)
    elif flags.prune:
        prune(context, infos, allowed(context, prunable))


def _check(context: Context) -> ApplySet | None:
    """Complain about flags that do not go together; return the set that the objects belong to, if one is named."""
    flags = context.flags
    dry_run = context.dry_run()
    context.validation()
    context.require_files()
    applyset = None
    if flags.has("applyset") and flags.applyset:
        from pybernetes.tools.kubectl.apply.applyset import ApplySet

        applyset = ApplySet(context, flags.applyset)
    if flags.force_conflicts and not flags.server_side:
        raise CommandError("--force-conflicts only works with --server-side")
    if dry_run == "client" and flags.server_side:
        raise CommandError(
            "--dry-run=client doesn't work with --server-side (did you mean --dry-run=server instead?)"
        )
    if flags.server_side and flags.force:
        raise CommandError("--force cannot be used with --server-side")
    if dry_run == "server" and flags.force:
        raise CommandError("--dry-run=server cannot be used with --force")
    if flags.all and flags.selector:
        raise CommandError("cannot set --all and --selector at the same time")
    if applyset is not None:
        if not flags.prune:
            raise CommandError("--applyset requires --prune")
        applyset.check()
    if flags.prune:
        if flags.force:
            raise CommandError("--force cannot be used with --prune")
        _check_pruning(context, applyset is not None)
    if flags.subresource and not flags.server_side:
        raise CommandError("--subresource can only be specified for --server-side")
    return applyset


def _check_pruning(context: Context, by_set: bool) -> None:
    flags = context.flags
    if by_set:
        for name in ("all", "selector", "prune-allowlist"):
            if getattr(flags, name.replace("-", "_")):
                raise CommandError(f"--{name} is incompatible with --applyset")
    else:
        if not flags.all and not flags.selector:
            raise CommandError(
                "all resources selected for prune without explicitly passing --all. To prune all resources, pass the "
                "--all flag. If you did not mean to prune all resources, specify a label selector"
            )
        if flags.server_side:
            raise CommandError(
                "--prune is in alpha and doesn't currently work on objects created by server-side apply"
            )
