"""The options of reads, writes and deletions, from the query or from a body, checked as upstream checks them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from pybernetes.api import errors
from pybernetes.api.field import Errors
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.memory.bounded_cache import bounded_cache


def boolean(request: Request, name: str) -> bool | None:
    """Return a query parameter as upstream reads it: all but "false" and "0" is true; None if it is not there."""
    values = request.query.get(name)
    return values[0].lower() not in ("false", "0") if values else None


_INTEGER = re.compile(r"[+-]?[0-9]+\Z")


def integer(text: str) -> int:
    """Return a query parameter as a whole number of 64 bits."""
    problem = "invalid syntax"
    if _INTEGER.match(text):
        if -(2**63) <= (number := int(text[:80])) < 2**63:
            return number
        problem = "value out of range"
    raise errors.bad_request(f"strconv.ParseInt: parsing {go_format.quote(text)}: {problem}")


def _invalid(kind: str, problems: Errors) -> None:
    if problems:
        raise errors.invalid("meta.k8s.io", kind, "", problems)


@dataclass(slots=True)
class WriteOptions:
    """Options of create, update and patch."""

    dry_run: bool = False
    manager: str = ""
    validation: str = "Warn"
    force: bool = False


# Writes of the server itself.
OURSELVES = WriteOptions(manager="kube-apiserver")


@bounded_cache()
def user_agent_manager(agent: bytes) -> str:
    """Return the field manager of a client that names none: its user agent up to the slash."""
    return agent.partition(b"/")[0].decode("latin-1").strip()[:128] or "unknown"


def write_options(request: Request, kind: str, apply: bool = False) -> WriteOptions:
    """Read the options of a write; ``apply`` for a server-side apply, which has to name its manager."""
    if not request.query_text and not apply:
        agent = request.headers.get(b"user-agent", b"")
        return WriteOptions(manager=user_agent_manager(agent))
    problems = Errors()
    manager = request.parameter("fieldManager")
    force = boolean(request, "force") if kind == "PatchOptions" else None
    if apply and not manager:
        problems.required("fieldManager", "is required for apply patch")
    if force is not None and not apply:
        problems.forbidden("force", "may not be specified for non-apply patch")
    if len(manager) > 128:
        problems.too_long("fieldManager", 128)
    for position, char in enumerate(manager):
        if not char.isprintable():
            text = f"invalid character U+{ord(char):04X} (at position {position})"
            problems.invalid("fieldManager", manager, text)
    dry = dry_run(request.query.get("dryRun", []), problems)
    validation = request.parameter("fieldValidation") or "Warn"
    if validation not in ("Ignore", "Warn", "Strict"):
        problems.unsupported("fieldValidation", validation, ("", "Ignore", "Strict", "Warn"))
    _invalid(kind, problems)
    if not manager:
        manager = user_agent_manager(request.headers.get(b"user-agent", b""))
    return WriteOptions(dry, manager, validation, bool(force))


def dry_run(values: list[str], problems: Errors) -> bool:
    """Return whether it is a dry run: ``All`` is the only value there is."""
    bad = [value for value in values if value != "All"]
    if bad:
        problems.unsupported("dryRun", values, ("All",))
    return bool(values)


@dataclass(slots=True)
class DeleteOptions:
    """Options of a deletion; None means that the client did not say."""

    grace: int | None = None
    policy: str | None = None
    orphan: bool | None = None
    uid: str | None = None
    resource_version: str | None = None
    dry_run: bool = False
    ignore_read_error: bool = False


_IGNORE = "ignoreStoreReadErrorWithClusterBreakingPotential"
_POLICIES = ("Background", "Foreground", "Orphan")
_DELETE_TYPES: dict[str, type] = {
    "preconditions": dict, "gracePeriodSeconds": int, "propagationPolicy": str, "orphanDependents": bool,
    "dryRun": list, _IGNORE: bool,
}  # fmt: skip
_CONDITION_TYPES: dict[str, type] = {"uid": str, "resourceVersion": str}


def delete_options(request: Request, body: Any) -> DeleteOptions:
    """Read the options of a deletion from the body, or else from the query."""
    values: dict[str, Any] = {}
    if body is not None:
        if not isinstance(body, dict):
            raise errors.bad_request("decoded object cannot be converted to DeleteOptions")
        if body.get("kind", "DeleteOptions") != "DeleteOptions":
            raise errors.bad_request("decoded object cannot be converted to DeleteOptions")
        values = body
    elif request.query_text:
        query = request.query
        if "gracePeriodSeconds" in query:
            values["gracePeriodSeconds"] = integer(query["gracePeriodSeconds"][0])
        if text := request.parameter("propagationPolicy"):
            values["propagationPolicy"] = text
        for name in ("orphanDependents", _IGNORE):
            if name in query:
                values[name] = boolean(request, name)
        if "dryRun" in query:
            values["dryRun"] = query["dryRun"]
    return _checked_delete(values)


def _checked_delete(values: dict[str, Any]) -> DeleteOptions:
    if not values:
        return DeleteOptions()
    problems = Errors()
    _check_types(values, _DELETE_TYPES)
    conditions = values.get("preconditions") or {}
    if conditions:
        _check_types(conditions, _CONDITION_TYPES)
    options = DeleteOptions(
        values.get("gracePeriodSeconds"),
        values.get("propagationPolicy"),
        values.get("orphanDependents"),
        conditions.get("uid"),
        conditions.get("resourceVersion"),
        dry_run(values.get("dryRun") or [], problems),
        bool(values.get(_IGNORE)),
    )
    if options.policy is not None and options.orphan is not None:
        problems.invalid("propagationPolicy", options.policy,
                         "orphanDependents and deletionPropagation cannot be both set")  # fmt: skip
    if options.policy is not None and options.policy not in _POLICIES:
        problems.unsupported(
            "propagationPolicy", options.policy, ("Foreground", "Background", "Orphan", "nil")
        )
    if options.ignore_read_error:
        for name in ("propagationPolicy", "orphanDependents", "gracePeriodSeconds", "preconditions"):
            if values.get(name) is not None:
                problems.invalid(_IGNORE, True, f"cannot be set together with .{name}")
    if options.grace is not None and options.grace < 0:
        # A negative grace period has always meant the shortest one.
        options.grace = 1
    _invalid("DeleteOptions", problems)
    return options


def _check_types(values: dict[str, Any], types: dict[str, type]) -> None:
    for name, value in values.items():
        type_ = types.get(name)
        if type_ is not None and value is not None and type(value) is not type_:
            raise errors.bad_request(
                f"json: cannot unmarshal into Go struct field DeleteOptions.{name} of type {type_.__name__}"
            )


def refuse_ignoring_read_errors(options: DeleteOptions, why: str) -> None:
    """Refuse the option to delete what cannot be read where it has no place."""
    if options.ignore_read_error:
        problems = Errors()
        problems.invalid(_IGNORE, True, why)
        _invalid("DeleteOptions", problems)


@dataclass(slots=True)
class ListOptions:
    """Options of list and watch."""

    label_selector: str = ""
    field_selector: str = ""
    limit: int = 0
    token: str = ""
    resource_version: str = ""
    match: str = ""
    timeout: int | None = None
    bookmarks: bool = False
    initial_events: bool | None = None
    extra: dict[str, str] = field(default_factory=dict)


_DEFAULT_LIST = ListOptions()


def list_options(request: Request, watch: bool) -> ListOptions:
    """Read the options of a list or watch."""
    if not request.query_text:
        return _DEFAULT_LIST
    get = request.parameter
    options = ListOptions(get("labelSelector"), get("fieldSelector"), token=get("continue"),
                          resource_version=get("resourceVersion"), match=get("resourceVersionMatch"))  # fmt: skip
    if "limit" in request.query:
        options.limit = max(0, integer(get("limit")))
    if "timeoutSeconds" in request.query:
        options.timeout = integer(get("timeoutSeconds"))
    options.bookmarks = bool(boolean(request, "allowWatchBookmarks"))
    options.initial_events = boolean(request, "sendInitialEvents")
    problems = Errors()
    (_check_watch if watch else _check_list)(options, problems)
    _invalid("ListOptions", problems)
    return options


_MATCH = "resourceVersionMatch"


def _check_list(options: ListOptions, problems: Errors) -> None:
    if options.match:
        if not options.resource_version:
            problems.forbidden(_MATCH, "resourceVersionMatch is forbidden unless resourceVersion is provided")
        if options.token:
            problems.forbidden(_MATCH, "resourceVersionMatch is forbidden when continue is provided")
        if options.match not in ("Exact", "NotOlderThan"):
            problems.unsupported(_MATCH, options.match, ("Exact", "NotOlderThan", ""))
        if options.match == "Exact" and options.resource_version == "0":
            text = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
            problems.forbidden(_MATCH, text)
    if options.initial_events is not None:
        problems.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list")


def _check_watch(options: ListOptions, problems: Errors) -> None:
    if options.initial_events is not None and options.match != "NotOlderThan":
        problems.forbidden(_MATCH, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")
    if options.match:
        if options.initial_events is None:
            text = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
            problems.forbidden(_MATCH, text)
        if options.match != "NotOlderThan":
            problems.unsupported(_MATCH, options.match, ("NotOlderThan",))
        if options.token:
            problems.forbidden(_MATCH, "resourceVersionMatch is forbidden when continue is provided")


def revision(text: str) -> int:
    """Return a resourceVersion as a number; 400 if it is none."""
    if not text:
        return 0
    problem = "invalid syntax"
    if text.isdigit() and text.isascii():
        if (number := int(text[:80])) < 2**64:
            return number
        problem = "value out of range"
    quoted = go_format.quote(text)
    raise errors.bad_request(
        f"invalid resource version: resourceVersion: Invalid value: {quoted}: strconv.ParseUint: "
        f"parsing {quoted}: {problem}"
    )
