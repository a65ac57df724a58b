"""scale: how many replicas, in one form for every kind that has them."""

from __future__ import annotations

from typing import Any

from pybernetes.api import errors, selectors, table
from pybernetes.api.apply.scale import parent_to_scale, path_of, scale_to_parent
from pybernetes.api.field import Errors
from pybernetes.api.resource import Object, Resource, Scale
from pybernetes.control_plane.apiserver.codec import negotiation, rendering
from pybernetes.control_plane.apiserver.codec.decoding import read_object
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.options import WriteOptions, write_options
from pybernetes.control_plane.apiserver.storage.update import Mutate, update_stored
from pybernetes.control_plane.apiserver.verbs.patch import APPLY, Applied, Change, patch_type, read_patch
from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.http.messages import Response

SCALE = Kind(Resource(group="autoscaling", version="v1", kind="Scale", plural="scales"))


async def handle(context: ServerContext, request: Request, kind: Kind) -> Response:
    """Read or write the number of replicas."""
    form = negotiation.representation(request)
    paths = kind.resource.scale
    assert paths is not None
    info = request.request_info
    if info.verb == "get":
        await context.fresh()
        record = context.store.get(kind.key(info.namespace, info.name))
        if record is None:
            raise errors.not_found(kind.resource.group, kind.resource.plural, info.name)
        await kind.convert((record,))
        return rendering.render(SCALE, scale_of(paths, kind.object(record)), form, context.clock())
    if info.verb not in ("update", "patch"):
        raise errors.method_not_allowed()
    options = write_options(request, "UpdateOptions" if info.verb == "update" else "PatchOptions")
    if info.verb == "update":
        wanted = await _replacement(request, options)
    else:
        wanted = await off_loop.run(request.weight, _patch, context, request, kind, options)
    keep_fields = isinstance(wanted, Applied)

    def change(old: Object) -> Object:
        scale = scale_of(paths, old)
        scale["metadata"]["managedFields"] = parent_to_scale(_entries(old), _paths(kind))
        return _changed(kind, paths, old, wanted(scale), keep_fields)

    written = await update_stored(context, kind, change, request, options, keep_fields=keep_fields)
    obj = kind.object(written.record) if written.record is not None else written.obj
    return rendering.render(SCALE, scale_of(paths, obj), form, context.clock())


async def _replacement(request: Request, options: WriteOptions) -> Mutate:
    scale = await read_object(SCALE.resource, request, options.validation)
    return lambda old: scale


def _patch(context: ServerContext, request: Request, kind: Kind, options: WriteOptions) -> Mutate:
    given = patch_type(request, kind)
    body = read_patch(request, given)
    if given == APPLY:
        return Applied(context, request, SCALE, body, options, {})
    return Change(request, SCALE, given, body, options)


def _changed(kind: Kind, paths: Scale, obj: Object, scale: Object, keep_fields: bool) -> Object:
    """Return the object with the replicas of a scale."""
    replicas = scale.get("spec", {}).get("replicas", 0)
    if replicas < 0:
        problems = Errors()
        problems.invalid("spec.replicas", replicas, "must be greater than or equal to 0")
        raise errors.invalid("autoscaling", "Scale", scale["metadata"].get("name", ""), problems)
    meta = scale["metadata"]
    if meta.get("uid") and meta["uid"] != obj["metadata"].get("uid"):
        why = f"Precondition failed: UID in precondition: {meta['uid']}, UID in object meta: {obj['metadata'].get('uid')}"
        raise errors.conflict(kind.resource.group, kind.resource.plural, meta.get("name", ""), why)
    version = meta.get("resourceVersion", "")
    if version:
        obj["metadata"]["resourceVersion"] = version
    else:
        obj["metadata"].pop("resourceVersion", None)
    if keep_fields:
        version = kind.resource.api_version
        entries = scale_to_parent(_entries(obj), _entries(scale), version, _paths(kind))
        obj["metadata"]["managedFields"] = entries
    _set(obj, paths.replicas, replicas)
    return obj


def _entries(obj: Object) -> list[dict[str, Any]]:
    return obj["metadata"].get("managedFields", [])


def _paths(kind: Kind) -> dict[str, tuple[str, ...]]:
    """Return where the replicas are, in the form of managed fields."""
    assert kind.resource.scale is not None
    return {kind.resource.api_version: path_of(kind.resource.scale.replicas)}


def _set(obj: Object, path: str, value: Any) -> None:
    parts = path.strip(".").split(".")
    for count, part in enumerate(parts[:-1], 1):
        obj = obj.setdefault(part, {})
        if not isinstance(obj, dict):  # stored before the definition said where its replicas are
            where = "." + ".".join(parts[:count])
            why = f"value cannot be set because {where} is not a map[string]interface{{}}"
            raise errors.StatusError(500, "", why)
    obj[parts[-1]] = value


def scale_of(paths: Scale, obj: Object) -> Object:
    """Return the scale of an object."""
    meta = obj["metadata"]
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    status: dict[str, Any] = {"replicas": table.get(obj, paths.status_replicas, 0)}
    selector = _selector(table.get(obj, paths.selector))
    if selector:
        status["selector"] = selector
    replicas = table.get(obj, paths.replicas, 0)
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {key: meta[key] for key in kept if key in meta},
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


def _selector(value: Any) -> str:
    """Return a selector as text, whichever form the kind keeps it in."""
    if not value or isinstance(value, str):
        return value or ""
    if "matchLabels" in value or "matchExpressions" in value:
        return str(selectors.from_object(value))
    return str(selectors.from_map(value))
