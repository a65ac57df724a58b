"""patch: JSON patch, merge patch, strategic merge patch and server-side apply."""

from __future__ import annotations

from typing import Any

from pybernetes.api import errors
from pybernetes.api.apply import apply as server_side
from pybernetes.api.field import Errors
from pybernetes.api.patch import json_patch, merge_patch, strategic
from pybernetes.api.resource import Object
from pybernetes.api.schema import Decoder
from pybernetes.control_plane.apiserver import negotiation, writes
from pybernetes.control_plane.apiserver.api import Api
from pybernetes.control_plane.apiserver.decoding import check_type, convert, decode, report
from pybernetes.control_plane.apiserver.http.messages import Request, Response
from pybernetes.control_plane.apiserver.kinds import Kind
from pybernetes.control_plane.apiserver.options import WriteOptions, write_options
from pybernetes.control_plane.apiserver.verbs.create import answer
from pybernetes.control_plane.store.protocol import Record

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
TYPES = (JSON_PATCH, MERGE_PATCH, STRATEGIC, APPLY)
# Custom resources have no strategies, so a strategic patch of one is refused.
_CUSTOM_TYPES = (JSON_PATCH, MERGE_PATCH, APPLY)


async def patch(api: Api, request: Request, kind: Kind, rules: writes.UpdateRules | None = None) -> Response:
    """Changes a stored object by the patch of the body."""
    form = negotiation.representation(request)
    given = request.header(b"content-type").partition(";")[0].strip().lower()
    accepted = TYPES if kind.resource.own_type is None else _CUSTOM_TYPES
    if given not in accepted:
        raise errors.unsupported_media_type(accepted)
    options = write_options(request, "PatchOptions")
    body = negotiation.parse_body(request.body, given == APPLY)
    if given == APPLY:
        return answer(api, kind, await _apply(api, request, kind, body, options, rules), form)
    if options.force:
        problems = Errors()
        problems.forbidden("force", "may not be specified for non-apply patch")
        raise errors.invalid("meta.k8s.io", "PatchOptions", "", problems)
    change = Change(request, kind, given, body.value, options)
    return answer(api, kind, await writes.update(api, kind, change, request, options, rules), form)


class Change:
    """A patch as a function of the stored object."""

    def __init__(self, request: Request, kind: Kind, type_: str, value: Any, options: WriteOptions) -> None:
        self.request, self.kind, self.type, self.value, self.options = request, kind, type_, value, options
        if type_ == JSON_PATCH:
            json_patch.check(value)

    def __call__(self, old: Object, record: Record) -> Object:
        resource = self.kind.resource
        if self.type == JSON_PATCH:
            result = json_patch.apply(old, self.value)
        elif self.type == MERGE_PATCH:
            result = merge_patch.apply(old, self.value)
        else:
            result = strategic.apply(old, self.value, resource.type)
        if not isinstance(result, dict):
            raise errors.bad_request("the patched object is not an object")
        check_type(resource, result)
        decoder = Decoder()
        new = convert(resource, result, decoder)
        if self.options.validation != "Ignore":
            problems = [f'unknown field "{path}"' for path in decoder.unknown]
            report(resource, problems, self.options.validation, self.request)
        # A patch that does not speak of the version does not insist on it.
        if (
            new["metadata"].get("resourceVersion") == old["metadata"].get("resourceVersion")
            and not self._names_version()
        ):
            new["metadata"].pop("resourceVersion", None)
        if resource.default is not None:
            resource.default(new)
        return new

    def _names_version(self) -> bool:
        if isinstance(self.value, dict):
            meta = self.value.get("metadata")
            return isinstance(meta, dict) and bool(meta.get("resourceVersion"))
        return any(
            isinstance(operation, dict) and operation.get("path") == "/metadata/resourceVersion"
            and operation.get("op") in ("add", "replace")
            for operation in self.value
        )  # fmt: skip


class Applied:
    """A server-side apply as a function of the stored object: what the manager wanted and no longer does goes."""

    def __init__(
        self,
        api: Api,
        request: Request,
        kind: Kind,
        body: negotiation.Body,
        options: WriteOptions,
        reset: dict[str, Any],
    ) -> None:
        self.api, self.request, self.kind, self.options, self.reset = api, request, kind, options, reset
        self.wanted = self._read(body)

    def _read(self, body: negotiation.Body) -> Object:
        info, resource = self.request.info, self.kind.resource
        if not self.request.parameter("fieldManager"):
            problems = Errors()
            problems.required("fieldManager", "is required for apply patch")
            raise errors.invalid("meta.k8s.io", "PatchOptions", "", problems)
        if not isinstance(body.value, dict):
            raise errors.bad_request("error decoding YAML: the body is not an object")
        for key, name in (("apiVersion", "apiVersion"), ("kind", "Kind")):
            if not body.value.get(key):
                raise errors.bad_request(f"couldn't get version/kind: Object '{name}' is missing in the body")
        wanted = decode(resource, body, self.options.validation, self.request)
        meta = wanted["metadata"]
        if meta.get("managedFields"):
            raise errors.bad_request("metadata.managedFields must be nil")
        if meta.setdefault("name", info.name) != info.name:
            raise errors.bad_request(
                f"the name of the object ({meta['name']}) does not match the name on the URL ({info.name})"
            )
        if info.namespace and resource.namespaced:
            meta.setdefault("namespace", info.namespace)
        return wanted

    def merge(self, live: Object | None) -> Object:
        """The live object with what is wanted in it, and who owns what."""
        resource = self.kind.resource
        merged, entries = server_side.apply(
            live,
            self.wanted,
            resource.type,
            kind=resource.kind,
            manager=self.options.manager,
            api_version=resource.api_version,
            subresource=self.request.info.subresource,
            force=self.options.force,
            now=self.api.timestamp(),
            reset=self.reset,
        )
        new = convert(resource, merged, Decoder())
        if entries:
            new["metadata"]["managedFields"] = entries
        else:
            new["metadata"].pop("managedFields", None)
        return new

    def __call__(self, old: Object, record: Record) -> Object:
        new = self.merge(old)
        if not self.wanted["metadata"].get("resourceVersion"):
            new["metadata"].pop("resourceVersion", None)
        if self.kind.resource.default is not None:
            self.kind.resource.default(new)
        return new


async def _apply(
    api: Api,
    request: Request,
    kind: Kind,
    body: negotiation.Body,
    options: WriteOptions,
    rules: writes.UpdateRules | None,
) -> writes.Written:
    resource, info = kind.resource, request.info
    change = Applied(api, request, kind, body, options, (rules or writes.main_rules(resource)).reset)
    await api.fresh()
    if api.store.get(kind.key(info.namespace, info.name)) is None and rules is None:
        uid = change.wanted["metadata"].get("uid")
        if uid:
            why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            raise errors.conflict(resource.group, resource.plural, info.name, why)
        return await writes.create(api, kind, change.merge(None), request, options, keep_fields=True)
    return await writes.update(api, kind, change, request, options, rules, fields=lambda new, old: None)
