"""patch: JSON patch, merge patch, strategic merge patch and server-side apply."""

from __future__ import annotations

from typing import Any

import orjson

from pybernetes.api import errors
from pybernetes.api.apply import apply as server_side
from pybernetes.api.field import Errors
from pybernetes.api.patch import json_patch, merge_patch, strategic
from pybernetes.api.resource import Object
from pybernetes.api.schema import DecodeError, Decoder
from pybernetes.api.schema.decode import count_keys
from pybernetes.api.text import go_format, go_printf
from pybernetes.control_plane.apiserver.codec import negotiation
from pybernetes.control_plane.apiserver.codec.bodies import Body, parse_body
from pybernetes.control_plane.apiserver.codec.decoding import check_type, convert, fit, report
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.options import WriteOptions, write_options
from pybernetes.control_plane.apiserver.storage.update import create_or_update, update_stored
from pybernetes.control_plane.apiserver.storage.update_rules import UpdateRules
from pybernetes.control_plane.apiserver.storage.written import Written
from pybernetes.control_plane.apiserver.verbs.create import answer
from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.http.messages import Response

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
TYPES = (JSON_PATCH, MERGE_PATCH, STRATEGIC, APPLY)
# Custom resources have no strategies, so a strategic patch of one is refused.
_CUSTOM_TYPES = (JSON_PATCH, MERGE_PATCH, APPLY)


async def patch(
    context: ServerContext, request: Request, kind: Kind, rules: UpdateRules | None = None
) -> Response:
    """Change a stored object by the patch of the body."""
    form = negotiation.representation(request, bool(kind.message))
    given = patch_type(request, kind)
    options = write_options(request, "PatchOptions", apply=given == APPLY)
    size = request.weight
    body = await off_loop.run(size, read_patch, request, given)
    if given == APPLY:
        return await answer(context, kind, await _apply(context, request, kind, body, options, rules), form)
    change = await off_loop.run(size, Change, request, kind, given, body, options)
    written = await update_stored(context, kind, change, request, options, rules)
    return await answer(context, kind, written, form)


def patch_type(request: Request, kind: Kind) -> str:
    """Return the media type of a patch; 415 if the kind has no such patches."""
    given = request.header(b"content-type").partition(";")[0].strip().lower()
    if kind.resource.own_type is not None and given not in _CUSTOM_TYPES:
        raise errors.unsupported_media_type(_CUSTOM_TYPES)
    if given not in TYPES:
        raise errors.StatusError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})
    return given


def read_patch(request: Request, media_type: str) -> Body:
    """Return the patch of a body; 400, in the words of that type of patch, if it is none."""
    body = parse_body(request.body, media_type == APPLY)
    if body.problem:
        what = "error encoding patch" if media_type == APPLY else "invalid JSON patch"
        raise errors.bad_request(
            f"{what}: {body.problem.partition(' error: ')[2] or body.problem}{body.place}"
        )
    if request.audit is not None:
        request.audit.sent_value(body.value)
    return body


class Change:
    """A patch as a function of the stored object."""

    def __init__(self, request: Request, kind: Kind, type_: str, body: Body, options: WriteOptions) -> None:
        self.request, self.kind, self.type, self.value, self.options = (
            request,
            kind,
            type_,
            body.value,
            options,
        )
        self.repeated: list[str] = []
        if type_ == JSON_PATCH:
            json_patch.check(self.value)
        if options.validation != "Ignore":
            prefix = "json patch " if type_ == JSON_PATCH else ""
            self.repeated = [prefix + problem for problem in body.complaints(count_keys(self.value), [])]

    def __call__(self, old: Object) -> Object:
        resource = self.kind.resource
        before: Object | None = old
        if self.type == JSON_PATCH:
            result, before = json_patch.apply(old, self.value), None
        elif self.type == MERGE_PATCH:
            result = merge_patch.apply(old, self.value)
        else:
            result = strategic.apply(old, self.value, resource.type)
            # The patched fields go into an object whose kind is not in question.
            result["kind"], result["apiVersion"] = resource.kind, resource.api_version
        new = self._decoded(result, before)
        _same_name(new["metadata"], self.request.request_info.name)
        # A patch that does not speak of the version does not insist on it.
        if (
            new["metadata"].get("resourceVersion") == old["metadata"].get("resourceVersion")
            and not self._names_version()
        ):
            new["metadata"].pop("resourceVersion", None)
        if resource.default is not None:
            resource.default(new)
        return new

    def _decoded(self, result: Any, before: Object | None) -> Object:
        """Return the patched object; what does not fit the kind is the patch's fault, which 422 says."""
        resource, validation = self.kind.resource, self.options.validation
        decoder = Decoder()
        try:
            if not isinstance(result, dict):
                raise errors.bad_request("json: cannot unmarshal into Go value of type struct")
            check_type(resource, result)
            new = self._converted(result, decoder, before)
        except errors.StatusError as error:
            raise error if error.code == 422 else _unfit(result, error.message) from None
        problems = list(self.repeated)
        if validation != "Ignore":
            problems += [f"unknown field {go_format.quote(path)}" for path in decoder.unknown]
        if problems and validation == "Strict":
            shown = go_printf.plain(self.value) if self.type == STRATEGIC else result
            raise _unfit(shown, "strict decoding error: " + ", ".join(problems))
        for problem in problems:
            self.request.warn(problem)
        return new

    def _converted(self, result: Object, decoder: Decoder, before: Object | None) -> Object:
        """Return the patched object as the kind has it; a strategic patch is not decoded again but converted."""
        if self.type != STRATEGIC:
            return convert(self.kind.resource, result, decoder, before)
        try:
            return fit(self.kind.resource, result, decoder, before)
        except DecodeError as error:
            raise _unfit(go_printf.plain(self.value), error.converting) from None

    def _names_version(self) -> bool:
        if isinstance(self.value, dict):
            meta = self.value.get("metadata")
            return isinstance(meta, dict) and bool(meta.get("resourceVersion"))
        return any(
            isinstance(operation, dict) and operation.get("path") == "/metadata/resourceVersion"
            and operation.get("op") in ("add", "replace")
            for operation in self.value or ()
        )  # fmt: skip


def _same_name(meta: Object, name: str) -> None:
    """Check that a patch leaves the name as it is; 400 if not."""
    given = meta.get("name")
    if not given:
        raise errors.nameless(name)
    if given != name:
        raise errors.bad_request(
            f"the name of the object ({given}) does not match the name on the URL ({name})"
        )


def _unfit(result: Any, why: str) -> errors.StatusError:
    problems = Errors()
    problems.invalid("patch", result if isinstance(result, str) else orjson.dumps(result).decode(), why)
    return errors.invalid("", "", "", problems)


class Applied:
    """A server-side apply as a function of the stored object: what the manager wanted and no longer does goes."""

    def __init__(
        self,
        context: ServerContext,
        request: Request,
        kind: Kind,
        body: Body,
        options: WriteOptions,
        reset: dict[str, Any],
    ) -> None:
        self.context, self.request, self.kind, self.options, self.reset = (
            context,
            request,
            kind,
            options,
            reset,
        )
        self.wanted = self._read(body)

    def _read(self, body: Body) -> Object:
        self.repeated = body.repeated
        wanted = body.value if body.value is not None else {}
        if isinstance(wanted, dict):
            given = wanted.get("apiVersion"), wanted.get("kind")
            version, kind = (value if isinstance(value, str) else "" for value in given)
            if (version, kind) != (self.kind.resource.api_version, self.kind.resource.kind):
                group, _, version = version.rpartition("/")
                raise errors.bad_request(f"invalid object type: {group}/{version}, Kind={kind}")
            meta = wanted.get("metadata")
            if isinstance(meta or {}, dict):
                _same_name(meta or {}, self.request.request_info.name)
        return wanted

    def merge(self, live: Object | None) -> Object:
        """Return the live object with what is wanted in it, and who owns what."""
        resource = self.kind.resource
        merged, entries = server_side.apply(
            live,
            self.wanted,
            resource.type,
            kind=resource.kind,
            manager=self.options.manager,
            api_version=resource.api_version,
            subresource=self.request.request_info.subresource,
            force=self.options.force,
            now=self.context.timestamp(),
            reset=self.reset,
        )
        decoder = Decoder()
        new = convert(resource, merged, decoder)
        unknown = [f"unknown field {go_format.quote(path)}" for path in decoder.unknown]
        if self.options.validation != "Ignore":
            report(resource, [*self.repeated, *unknown], self.options.validation, self.request)
        if entries:
            new["metadata"]["managedFields"] = entries
        else:
            new["metadata"].pop("managedFields", None)
        return new

    def new(self) -> Object:
        """Return the object as it is if there is none yet; 409 if what is wanted is a certain one."""
        meta = self.wanted.get("metadata") if isinstance(self.wanted, dict) else None
        if isinstance(meta, dict) and (uid := meta.get("uid")):
            why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            resource = self.kind.resource
            raise errors.conflict(resource.group, resource.plural, self.request.request_info.name, why)
        return self.merge(None)

    def __call__(self, old: Object) -> Object:
        new = self.merge(old)
        if not self.wanted["metadata"].get("resourceVersion"):
            new["metadata"].pop("resourceVersion", None)
        if self.kind.resource.default is not None:
            self.kind.resource.default(new)
        return new


async def _apply(
    context: ServerContext,
    request: Request,
    kind: Kind,
    body: Body,
    options: WriteOptions,
    rules: UpdateRules | None,
) -> Written:
    change = Applied(context, request, kind, body, options, (rules or UpdateRules(kind.resource)).reset)
    if rules is not None:  # a subresource is there or not
        return await update_stored(context, kind, change, request, options, rules, keep_fields=True)
    return await create_or_update(context, kind, change.new, change, request, options, keep_fields=True)
