"""apply without the server's help: a three-way patch, computed here."""

from __future__ import annotations

import copy
import json

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.apply.last_applied import ANNOTATION, annotate, read
from pybernetes.tools.kubectl.apply.local_patch import patched
from pybernetes.tools.kubectl.apply.recreation import create_or_restore
from pybernetes.tools.kubectl.apply.server_side import warn_if_deleting
from pybernetes.tools.kubectl.apply.three_way_patch import patch_for
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import ApiError, CommandError, not_found, with_source
from pybernetes.tools.kubectl.output.json import dumps
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object


_MISSING = (
    "Warning: resource {label} is missing the {annotation} annotation which is required by kubectl apply. kubectl apply "
    "should only be used on resources created declaratively by either kubectl create --save-config or kubectl apply. "
    "The missing annotation will be patched automatically."
)
_ATTEMPTS = 5


def without_nulls(value: Any) -> Any:
    """Return a value without the keys that are null."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def client_side(context: Context, info: Info) -> str:
    """Create the object, or patch it with what has changed; return what was done."""
    generate = (info.object.get("metadata") or {}).get("generateName")
    if not info.name and generate:
        raise CommandError(f"from {generate}: cannot use generate name with apply")
    info.object = context.record(info.object)
    modified = annotate(info.object)
    try:
        live = context.client.get(info.resource, info.namespace, info.name)
    except CommandError as error:
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
    warn_if_deleting(context, info)
    return "configured" if patch else "unchanged"


def describe(info: Info) -> str:
    """Return an object as the errors of apply name it."""
    group, _, version = info.resource.api_version.rpartition("/")
    where = f'Resource: "{group}/{version}, Resource={info.resource.plural}", GroupVersionKind: "{group}/{version}, Kind={info.resource.kind}"'
    return f'{where}\nName: "{info.name}", Namespace: "{info.namespace}"'


def _patched(context: Context, info: Info, live: Object, modified: Object) -> Object:
    """Send the patch, again after a conflict, and leave the result in the info."""
    for attempt in range(_ATTEMPTS):
        patch, kind = compute(info, live, modified, context.flags.overwrite)
        if context.dry_run() == "client":
            info.object = patched(copy.deepcopy(live), patch, kind)
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
                _recreate(context, info, live, modified)
                return patch
            text = f"applying patch:\n{dumps(patch, indent=None)}\nto:\n{describe(info)}\nfor:"
            raise with_source(with_source(error, "patching", info.source), text, info.source) from None
    raise AssertionError


def compute(info: Info, live: Object, modified: Object, overwrite: bool = True) -> tuple[Object, str]:
    """Return the patch, and of which kind it is."""
    last = read(live)
    return patch_for(info.resource, json.loads(last) if last else None, modified, live, overwrite)


def _recreate(context: Context, info: Info, live: Object, modified: Object) -> None:
    """Delete the object and create it anew, as --force asks."""
    from pybernetes.tools.kubectl.resources.deletion import delete_object, propagation_policy
    from pybernetes.tools.kubectl.resources.waiting import A_WEEK, until_gone

    flags = context.flags
    uid = delete_object(context, info, flags.grace_period, propagation_policy(flags.cascade))
    until_gone(context, [(info, uid)], flags.timeout or A_WEEK)
    info.object = create_or_restore(context, info, modified, live, context.write_query())
