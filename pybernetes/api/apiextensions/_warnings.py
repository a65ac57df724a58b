"""Warnings about schemas that are accepted and will not do what they seem to say."""

from __future__ import annotations

from collections.abc import Iterator

from pybernetes.api.apiextensions._structural import children, one
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format

_FORMATS = frozenset({
    "bsonobjectid", "uri", "email", "hostname", "ipv4", "ipv6", "cidr", "mac", "uuid", "uuid3", "uuid4", "uuid5",
    "isbn", "isbn10", "isbn13", "creditcard", "ssn", "hexcolor", "rgbcolor", "byte", "password", "date",
    "duration", "datetime", "k8sshortname", "k8slongname",
})  # fmt: skip
_NUMERIC = {"integer": ("int32", "int64"), "number": ("float", "double")}


def _schemas(obj: Object) -> Iterator[Object]:
    """Return every schema of every version, each version once if all are the same."""
    tops = [
        version.get("schema", {}).get("openAPIV3Schema")
        for version in obj.get("spec", {}).get("versions", ())
    ]
    if all(top == tops[0] for top in tops):
        tops = tops[:1]
    pending = [top for top in reversed(tops) if top is not None]
    while pending:
        schema = pending.pop()
        yield schema
        pending += reversed(children(schema))


def _is_recognized(schema: Object) -> bool:
    kind, form = schema.get("type", ""), schema["format"]
    if kind in ("", "string"):
        return form.replace("-", "") in _FORMATS
    return form in _NUMERIC.get(kind, ())


def _sets(obj: Object) -> list[str]:
    messages = set()
    for schema in _schemas(obj):
        kind = (one(schema.get("items")) or {}).get("type")
        if schema.get("x-kubernetes-list-type") == "set" and kind in ("object", "array"):
            messages.add(
                f"x-kubernetes-list-type: set for items of type {go_format.quote(kind)} is not supported by "
                "server-side apply or CEL validation rules"
            )
    return sorted(messages)


def _formats(obj: Object) -> list[str]:
    return [
        schema["format"] for schema in _schemas(obj) if schema.get("format") and not _is_recognized(schema)
    ]


def warnings(obj: Object, old: Object | None) -> list[str]:
    """Warn about formats and sets that are not supported, unless they were there before."""
    before = _formats(old) if old else []
    known = _sets(old) if old else []
    unknown = [f"unrecognized format {go_format.quote(form)}" for form in _formats(obj) if form not in before]
    return unknown + [text for text in _sets(obj) if text not in known]
