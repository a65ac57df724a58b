"""Small changes to workloads: pause, resume, restart."""

from __future__ import annotations

from collections.abc import Callable

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands.rollout._arguments import require_objects
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, Several
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.resources.builder import Builder
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


def flags(manager: str) -> tuple[str, ...]:
    """Return the flags of a command that makes a small change."""
    return shared_flags.FILES, shared_flags.PRINT, shared_flags.SELECTOR, shared_flags.field_manager(manager)


def change(context: Context, done: str, patch_of: Callable[[Info], Object | str], doing: str = "") -> None:
    """Patch each object with what the function returns; a text instead says why there is nothing to do."""
    require_objects(context)
    builder = Builder.from_flags(context, continue_on_error=True, empty_selector=True, latest=True)
    count = 0
    for info in builder.all():
        count += 1
        try:
            patch = patch_of(info)
            if isinstance(patch, str):
                builder.errors.append(CommandError(f"error: {patch}"))
                continue
            value = context.client.patch(
                info.resource, info.namespace, info.name, patch, "strategic" if info.resource.group == "apps" else "merge",
                query=context.write_query(),
            )  # fmt: skip
        except CommandError as error:
            builder.errors.append(error)
            continue
        printers.make(context, done)(value)
    if builder.errors:
        raise Several(builder.errors)
    if not count:
        context.warn(f"No resources found in {context.namespace} namespace.")
    _ = doing


def name_of(info: Info) -> str:
    """Return how messages name an object: deployments.apps "web"."""
    return f'{info.resource.full_name} "{info.name}"'


def set_paused(context: Context, wanted: bool) -> None:
    """Pause deployments, or let them go on."""
    doing, done, otherwise = (
        ("pausing", "paused", "already paused") if wanted else ("resuming", "resumed", "not paused")
    )

    def patch_of(info: Info) -> Object | str:
        if info.resource.kind != "Deployment":
            return f"{name_of(info)} {doing} is not supported"
        if bool((info.object.get("spec") or {}).get("paused")) == wanted:
            return f"{name_of(info)} is {otherwise}"
        return {"spec": {"paused": wanted or None}}

    change(context, done, patch_of)
