"""What the commands of set share: find objects, change their pod specs, send what is different."""

from __future__ import annotations

import copy
import fnmatch
from collections.abc import Callable, Iterable

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.apply.three_way_patch import edit_patch
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands.set._empty_fields import with_empty_fields
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, Verbatim
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.resources.builder import LOCAL, Builder
from pybernetes.tools.kubectl.resources.built_in import SCHEME
from pybernetes.tools.kubectl.resources.info import Info
from pybernetes.tools.kubectl.resources.named_objects import MISSING

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object


COMMON = (shared_flags.FILES, shared_flags.PRINT, shared_flags.DRY_RUN, shared_flags.SELECTOR, """
- all bool false | all objects of the types in the namespace
- local bool false | do not ask the server
""")  # fmt: skip


class Incomplete(CommandError):
    """A part of what is to be changed is not there."""


def check(context: Context) -> str:
    """Return the kind of dry run, after checking flags that exclude one another."""
    flags = context.flags
    dry_run = context.dry_run()
    if flags.local and dry_run == "server":
        raise CommandError("cannot specify --local and --dry-run=server - did you mean --dry-run=client?")
    if flags.all and flags.selector:
        raise CommandError("cannot set --all and --selector at the same time")
    return dry_run


def need_resources(context: Context, resources: list[str]) -> None:
    """Refuse a command line that names no object."""
    if not resources and not context.flags.filename and not context.flags.kustomize:
        raise Verbatim("error: " + MISSING)


def pod_spec(value: Object) -> Object | None:
    """Return the pod spec in an object, if it has one."""
    spec = value.get("spec") or {}
    match value.get("kind"):
        case "Pod":
            return spec
        case "CronJob":
            return spec["jobTemplate"]["spec"]["template"]["spec"]
        case "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet" | "Job" | "ReplicationController":
            return spec["template"]["spec"]
    return None


def refusal(context: Context, info: Info, why: str) -> CommandError:
    """Return the error about an object that cannot be changed so."""
    named, resource = info.resource.plural, info.resource
    end = ""
    if context.flags.local:  # nobody has said what its resource is called
        named, end = resource.kind.lower(), "\n" if resource.group else ""
        named += f".{resource.group}" if resource.group else ""
    return Verbatim(f"error: {named}/{info.name}{end} {why}\n")


def no_template(context: Context, info: Info) -> CommandError:
    """Return the error about an object without a pod template."""
    kind = f"*{info.resource.version}.{info.resource.kind}"
    return refusal(context, info, f"the object is not a pod or does not have a pod template: {kind}")


def change(
    context: Context,
    resources: list[str],
    done: str,
    edit: Callable[[Info, Object], None],
    failure: str,
    validate: Callable[[], None] = lambda: None,
    *,
    one_by_one: bool = False,
    **options: Any,
) -> None:
    """Edit each object, send the difference and print the result; ``validate`` looks at the arguments once all are there."""
    flags = context.flags
    dry_run = check(context)
    if flags.local and resources:
        raise Verbatim("error: " + LOCAL)
    local = flags.local or dry_run == "client"
    builder = Builder.from_flags(
        context, args=resources, continue_on_error=True, latest=not flags.local, select_all=False,
        empty_selector=flags.all, scheme=SCHEME, **options,
    )  # fmt: skip
    infos: Iterable[Info] = builder.infos()
    if not one_by_one:
        infos = list(infos)
        builder.finish()
    validate()
    show = printers.make(context, done)
    for info in infos:
        before = info.before = copy.deepcopy(info.object)
        try:
            edit(info, info.object)
        except Incomplete as error:  # what was found is changed all the same
            builder.errors.append(error)
        except CommandError as error:
            builder.errors.append(error)
            continue
        if info.object == before:
            continue
        if flags.has("record"):
            info.object = context.record(info.object)
        if local:
            show(with_empty_fields(info.object))
            continue
        patch, kind = edit_patch(info.resource, before, info.object)
        query = {"dryRun": "All"} if dry_run == "server" else {}
        if flags.has("field-manager"):
            query["fieldManager"] = flags.field_manager
        try:
            value = context.client.patch(info.resource, info.namespace, info.name, patch, kind, query=query)
        except CommandError as error:
            builder.errors.append(CommandError(f"{failure}{error.message}") if failure else error)
            continue
        show(with_empty_fields(value) if info.resource.kind == "Pod" else value)
    builder.finish()


def matching(containers: list[Object], pattern: str) -> list[Object]:
    """Return the containers whose names match a pattern."""
    return [
        container
        for container in containers
        if pattern == "*" or fnmatch.fnmatchcase(container["name"], pattern)
    ]
