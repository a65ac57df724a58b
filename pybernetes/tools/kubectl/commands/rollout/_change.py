"""Small changes to workloads: pause, resume, restart."""

from __future__ import annotations

from collections.abc import Callable

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands.rollout._arguments import require_objects
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import ApiError, CommandError, Several, raise_all
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.resources.builder import Builder
from pybernetes.tools.kubectl.resources.built_in import SCHEME
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


def flags(manager: str) -> tuple[str, ...]:
    """Return the flags of a command that makes a small change."""
    return shared_flags.FILES, shared_flags.PRINT, shared_flags.SELECTOR, shared_flags.field_manager(manager)


def change(context: Context, done: str, patch_of: Callable[[Info], Object]) -> None:
    """Patch each object with what the function returns; it raises where there is nothing to do."""
    require_objects(context)
    builder = Builder.from_flags(
        context, continue_on_error=True, empty_selector=True, latest=True, scheme=SCHEME, lists_together=True
    )
    count, infos = 0, builder.all()
    not_had = len(builder.errors)
    for info in infos:
        count += 1
        try:
            value = _patch(context, info, patch_of(info))
        except CommandError as error:
            builder.errors.append(error)
            continue
        printers.make(context, done)(value)
    flags = context.flags
    if not_had == len(builder.errors) == 1 and (flags.filename or flags.kustomize or flags.selector):
        raise Several(builder.errors)  # its text as it is
    raise_all(builder.errors)
    if not count:
        context.warn(f"No resources found in {context.namespace} namespace.")


def _patch(context: Context, info: Info, patch: Object) -> Object:
    how = "strategic" if info.resource.group == "apps" else "merge"
    try:
        return context.client.patch(
            info.resource, info.namespace, info.name, patch, how, query=context.write_query()
        )
    except ApiError as error:
        raise CommandError(f"failed to patch: {error.message}") from error


def refused(info: Info, why: str) -> CommandError:
    """Return the error that names an object and says why it is left alone: deployments.apps "web" is already paused."""
    return CommandError(f'error: {info.resource.full_name} "{info.name}" {why}')


def set_paused(context: Context, wanted: bool) -> None:
    """Pause deployments, or let them go on."""
    doing, done, otherwise = (
        ("pausing", "paused", "already paused") if wanted else ("resuming", "resumed", "not paused")
    )

    def patch_of(info: Info) -> Object:
        if info.resource.kind != "Deployment":
            raise refused(info, f"{doing} is not supported")
        if bool((info.object.get("spec") or {}).get("paused")) == wanted:
            raise refused(info, f"is {otherwise}")
        return {"spec": {"paused": wanted or None}}

    change(context, done, patch_of)
