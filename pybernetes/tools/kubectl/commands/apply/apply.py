"""apply: makes objects what files say, remembering what files said before."""

from __future__ import annotations

import copy
import json
from typing import Any

from pybernetes.tools.kubectl.apply.last_applied import ANNOTATION, annotate, configuration, read
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import ApiError, CommandError, not_found, raise_all, with_source
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.resources.builder import Builder, Info

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
- prune bool false | delete objects that were applied before and are in the files no more
- prune-allowlist array | group/version/kind that --prune may delete
- prune-whitelist array |
- server-side bool false | let the server apply
- subresource string | with --server-side, the subresource to apply to
- wait bool false | wait until pruned objects are gone
""",
)  # fmt: skip
_MISSING = (
    "Warning: resource {label} is missing the {annotation} annotation which is required by kubectl apply. kubectl apply "
    "should only be used on resources created declaratively by either kubectl create --save-config or kubectl apply. "
    "The missing annotation will be patched automatically."
)
_CONFLICT = """
Please review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
  command with the `--force-conflicts` flag.
* If you do not intend to manage all of the fields, please edit your
  manifest to remove references to the fields that should keep their
  current managers.
* You may co-own fields by updating your manifest to match the existing
  value; in this case, you'll become the manager if the other manager(s)
  stop managing the field (remove it from their configuration).
See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts"""
_ATTEMPTS = 5


def run(context: Context) -> None:
    """Apply the files."""
    flags = context.flags
    if context.args:
        raise context.usage(f"Unexpected args: [{' '.join(context.args)}]")
    _check(context)
    if flags.server_side and "field-manager" not in flags.changed:
        flags.set("field-manager", "kubectl")
    if flags.prune:
        from pybernetes.tools.kubectl.apply.prune import allowed, prune

        prunable = allowed(context)  # complain before anything is done
    builder = Builder.from_flags(context, continue_on_error=True, select_all=False)
    infos = builder.all()
    if not infos and not builder.errors:
        raise CommandError("no objects passed to apply")
    structured = flags.output not in ("", "name")
    if structured:
        printers.make(context)  # complain before anything is done
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
    if flags.prune:
        prune(context, infos, prunable)


def _check(context: Context) -> None:
    flags = context.flags
    dry_run = context.dry_run()
    context.validation()
    if not flags.filename and not flags.kustomize:
        raise CommandError("must specify one of -f and -k")
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
    if flags.prune:
        if flags.force:
            raise CommandError("--force cannot be used with --prune")
        if not flags.all and not flags.selector:
            raise CommandError(
                "all resources selected for prune without explicitly passing --all. To prune all resources, pass the "
                "--all flag. If you did not mean to prune all resources, specify a label selector"
            )
        if flags.server_side:
            raise CommandError(
                "--prune is in alpha and doesn't currently work on objects created by server-side apply"
            )
    if flags.subresource and not flags.server_side:
        raise CommandError("--subresource can only be specified for --server-side")


def server_side(context: Context, info: Info) -> str:
    """Send the object for the server to apply."""
    flags = context.flags
    query = {**context.write_query(), "force": "true" if flags.force_conflicts else "false"}
    wanted = info.object
    try:
        info.object = context.client.patch(
            info.resource,
            info.namespace,
            info.name,
            info.object,
            "apply",
            query=query,
            subresource=flags.subresource,
        )
    except ApiError as error:
        if error.reason == "Conflict":
            raise CommandError(error.message + _CONFLICT) from None
        raise
    if not flags.subresource:
        from pybernetes.tools.kubectl.apply.field_migration import migrate

        migrate(context, info, wanted, query)
    _warn_if_deleting(context, info)
    return "serverside-applied"


def _warn_if_deleting(context: Context, info: Info) -> None:
    if (info.object.get("metadata") or {}).get("deletionTimestamp"):
        context.warn(f"Warning: Detected changes to resource {info.name} which is currently being deleted.")


def without_nulls(value: Any) -> Any:
    """Return a value without the keys that are null."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def client_side(context: Context, info: Info) -> str:
    """Create the object, or patch it with what has changed; return what was done."""
    flags = context.flags
    generate = (info.object.get("metadata") or {}).get("generateName")
    if not info.name and generate:
        raise CommandError(f"from {generate}: cannot use generate name with apply")
    modified = annotate(info.object)
    try:
        live = context.client.get(info.resource, info.namespace, info.name)
    except ApiError as error:
        if not not_found(error):
            raise with_source(
                error,
                f"retrieving current configuration of:\n{describe(info)}\nfrom server for:",
                info.source,
            ) from None
        info.object = without_nulls(modified)
        if context.dry_run() != "client":
            try:
                info.object = context.client.create(
                    info.resource, info.namespace, info.object, query=context.write_query()
                )
            except CommandError as failure:
                raise with_source(failure, "creating", info.source) from None
        return "created"
    if read(live) is None:
        context.warn(_MISSING.format(label=f"{info.resource.plural}/{info.name}", annotation=ANNOTATION))
    patch = _patched(context, info, live, modified)
    _warn_if_deleting(context, info)
    _ = flags
    return "configured" if patch else "unchanged"


def describe(info: Info) -> str:
    """Return an object as the errors of apply name it."""
    kind = f"{info.resource.api_version}, Kind={info.resource.kind}"
    group, _, version = info.resource.api_version.rpartition("/")
    where = f'Resource: "{group}/{version}, Resource={info.resource.plural}", GroupVersionKind: "{group}/{version}, Kind={info.resource.kind}"'
    _ = kind
    return f'{where}\nName: "{info.name}", Namespace: "{info.namespace}"'


def _patched(context: Context, info: Info, live: dict[str, Any], modified: dict[str, Any]) -> dict[str, Any]:
    """Send the patch, again after a conflict, and leave the result in the info."""
    for attempt in range(_ATTEMPTS):
        patch, kind = compute(info, live, modified)
        if context.dry_run() == "client":
            info.object = _local(info, live, patch, kind)
            return patch
        if not patch:
            info.object = live
            return patch
        try:
            info.object = context.client.patch(
                info.resource, info.namespace, info.name, patch, kind, query=context.write_query()
            )
            return patch
        except ApiError as error:
            if error.reason == "Conflict" and attempt + 1 < _ATTEMPTS:
                live = context.client.get(info.resource, info.namespace, info.name)
                continue
            if context.flags.force and error.reason in ("Conflict", "Invalid"):
                _recreate(context, info, modified)
                return patch
            text = f"applying patch:\n{json.dumps(patch, separators=(',', ':'))}\nto:\n{describe(info)}\nfor:"
            raise with_source(error, text, info.source) from None
    raise AssertionError


def compute(info: Info, live: dict[str, Any], modified: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the patch, and of which kind it is."""
    from pybernetes.api.schema import kind_type
    from pybernetes.tools.kubectl.apply.three_way_patch import merge_patch, strategic_patch

    last = read(live)
    original = json.loads(last) if last else None
    try:
        type_ = kind_type(info.resource.group, info.resource.version, info.resource.kind)
    except KeyError:
        return merge_patch(original, modified, live), "merge"
    return strategic_patch(original, modified, live, type_), "strategic"


def _local(info: Info, live: dict[str, Any], patch: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return what the object would be, computed here."""
    if kind == "merge":
        from pybernetes.api.patch.merge_patch import apply as merge

        return merge(live, patch)
    from pybernetes.api.patch.strategic import apply as strategic
    from pybernetes.api.schema import kind_type

    type_ = kind_type(info.resource.group, info.resource.version, info.resource.kind)
    return strategic(copy.deepcopy(live), patch, type_)


def _recreate(context: Context, info: Info, modified: dict[str, Any]) -> None:
    """Delete the object and create it anew, as --force asks."""
    from pybernetes.tools.kubectl.commands._waiting import until_gone
    from pybernetes.tools.kubectl.commands.delete import cascade, delete_one

    uid = delete_one(context, info, max(context.flags.grace_period, 0), cascade(context.flags.cascade))
    until_gone(context, [(info, uid)], context.flags.timeout or 7 * 24 * 3600.0)
    info.object = context.client.create(info.resource, info.namespace, modified, query=context.write_query())


__all__ = ["client_side", "compute", "configuration", "run", "server_side"]
