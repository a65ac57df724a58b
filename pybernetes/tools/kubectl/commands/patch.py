"""patch: changes fields of objects."""

from __future__ import annotations

import copy

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.apply.local_patch import patched
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.connection.client import PATCH_TYPES
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import ApiError, CommandError
from pybernetes.tools.kubectl.files import read_bytes
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.resources.builder import Builder
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object


SUMMARY = "Update fields of a resource"
USAGE = "patch (-f FILENAME | TYPE NAME) [-p PATCH|--patch-file FILE]"
COMPLETION = "types"
FLAGS = (
    shared_flags.FILES, shared_flags.PRINT, shared_flags.DRY_RUN, shared_flags.RECORD, shared_flags.field_manager("kubectl-patch"),
    """
- local bool false | do not send the patch; change the object of the file
p patch string | the patch, JSON or YAML
- patch-file string | file with the patch
- subresource string | patch this subresource
- type string strategic | json, merge or strategic
""",
)  # fmt: skip


def run(context: Context) -> None:
    """Patch what the arguments name."""
    flags = context.flags
    dry_run = context.dry_run()
    if flags.patch and flags.patch_file:
        raise CommandError("cannot specify --patch and --patch-file together")
    if not flags.patch and not flags.patch_file:
        raise CommandError("must specify --patch or --patch-file containing the contents of the patch")
    if flags.local and context.args:
        raise CommandError("cannot specify --local and server resources")
    kind = flags.type.lower() or "strategic"
    if kind not in PATCH_TYPES:
        raise CommandError(f'--type must be one of [json merge strategic], not "{flags.type}"')
    if flags.local and dry_run == "server":
        raise CommandError("cannot specify --local and --dry-run=server - did you mean --dry-run=client?")
    flags.set("type", kind)
    patch = _patch(context)
    builder = Builder.from_flags(context, continue_on_error=True, subresource=flags.subresource, settled=True)
    if not builder.for_each(lambda info: _one(context, info, patch, dry_run)):
        raise CommandError("no objects passed to patch")


def _patch(context: Context) -> Any:
    flags = context.flags
    text = flags.patch.encode()
    if flags.patch_file:
        text = read_bytes(flags.patch_file, "unable to read patch file: ")
    if text.lstrip()[:1] in (b"{", b"["):
        from pybernetes.tools.kubectl.connection.json_text import loads as json_loads

        try:
            return json_loads(text)
        except ValueError:
            return text  # the server says what is wrong
    from pybernetes.api.text.yaml_reader import YamlError, loads

    try:
        return loads(text)[0]
    except YamlError as error:
        raise CommandError(f"unable to parse {_q(text)}: {error}") from None


def _q(text: bytes) -> str:
    from pybernetes.tools.kubectl.errors import quoted

    return quoted(text.decode("utf-8", "replace"))


def _one(context: Context, info: Info, patch: Any, dry_run: str) -> None:
    flags = context.flags
    before = info.object
    if flags.local or dry_run == "client":
        value = _locally(info, patch, flags.type)
    else:
        value = _sent(context, info, patch)
        if flags.record:
            cause = context.record({})
            value = context.client.patch(
                info.resource, info.namespace, info.name, cause, query=context.write_query()
            )
    changed = before != value
    printers.make(context, "patched" if changed else "patched (no change)", suffix=False)(value)


def _sent(context: Context, info: Info, patch: Any) -> Object:
    kind = context.flags.type
    try:
        return context.client.patch(
            info.resource, info.namespace, info.name, b"null" if patch is None else patch, kind,
            query=context.write_query(),
            subresource=context.flags.subresource,
        )  # fmt: skip
    except ApiError as error:
        if error.http_code != 415:
            raise
        resource = info.resource
        raise CommandError(
            f"{PATCH_TYPES[kind]} is not supported by {resource.api_version}, Kind={resource.kind}: {error.message}"
        ) from None


def _locally(info: Info, patch: Any, kind: str) -> Object:
    if patch is None:
        patch = [] if kind == "json" else {}
    try:
        return patched(copy.deepcopy(info.object), patch, kind)
    except KeyError:
        version = info.object.get("apiVersion") or ""
        what = version if "/" in version else f"/{version}"
        raise CommandError(
            f"strategic merge patch is not supported for {what}, Kind={info.resource.kind} locally, try --type merge"
        ) from None
