"""An object made to fit its schema: fields that the schema does not have go, and nulls where none may be."""

from __future__ import annotations

from typing import Any

import orjson

from pybernetes.api.customresource.types import EMBEDDED, META, META_FIELDS, PRESERVE
from pybernetes.api.resource import Object
from pybernetes.api.schema import DecodeError, Decoder, Type, named
from pybernetes.api.schema.decode import count_keys

# A place in the object: the place around it and the last step, or None for the object itself.
_Where = Any


def _meta_root() -> Type:
    """Return the part of an object that is the same for all kinds."""
    result = Type("struct")
    result.resolve = lambda: {
        "apiVersion": Type("string"), "kind": Type("string"), "metadata": named(META)
    }  # fmt: skip
    return result


_META_ROOT = _meta_root()


def decode(schema: Object, value: Object, decoder: Decoder) -> Object:
    """Return a client's object without what its schema does not know, which the decoder notes.

    The object is changed in place. Raise DecodeError if its metadata cannot be read.
    """
    if decoder.counting:
        decoder.keys += count_keys(value)
    metadata = value.get("metadata")
    if metadata is not None:
        head = Decoder()
        value["metadata"] = _metadata(head, metadata)
        decoder.unknown += head.unknown
    unknown: list[str] = []
    prune({**schema, EMBEDDED: True}, value, None, unknown)
    decoder.unknown += sorted(unknown)
    drop_nulls(schema, value)
    coerce(schema, value, None, decoder.unknown, strict=True)
    return value


def clean(schema: Object, value: Object) -> Object:
    """Make a stored object, in place, fit a schema that may have changed since it was stored."""
    prune({**schema, EMBEDDED: True}, value, None, [])
    drop_nulls(schema, value)
    coerce(schema, value, None, [], strict=False)
    return value


def prune(schema: Object | None, value: Any, where: _Where, unknown: list[str]) -> None:
    """Take out, in place, the fields that the schema does not have, and note their paths."""
    if type(value) is dict:
        _prune_object(schema or {}, value, where, unknown)
    elif type(value) is list:
        items = (schema or {}).get("items")
        if items is None and schema is not None and schema.get(PRESERVE):
            return
        for index, item in enumerate(value):
            if type(item) in (dict, list):
                prune(items, item, (where, index), unknown)


def _prune_object(schema: Object, value: Object, where: _Where, unknown: list[str]) -> None:
    properties = schema.get("properties") or {}
    additional = schema.get("additionalProperties")
    keeps, embedded = schema.get(PRESERVE), schema.get(EMBEDDED)
    dropped = None
    for key, item in value.items():
        if embedded and key in META_FIELDS:
            continue
        child = properties.get(key)
        if child is not None:
            if type(item) in (dict, list):
                prune(child, item, (where, key), unknown)
        elif additional:
            if type(item) in (dict, list) and not (keeps and type(additional) is not dict):
                prune(additional if type(additional) is dict else None, item, (where, key), unknown)
        elif not keeps:
            if where is not None or key not in META_FIELDS:
                unknown.append(text((where, key)))
            dropped = [*(dropped or ()), key]
    for key in dropped or ():
        del value[key]


def drop_nulls(schema: Object | None, value: Any) -> None:
    """Take out, in place, nulls where the schema has neither nulls nor a default."""
    schema = schema or {}
    if type(value) is dict:
        properties, additional = schema.get("properties") or {}, schema.get("additionalProperties")
        for key, item in list(value.items()):
            child = properties.get(key, additional if type(additional) is dict else None)
            if item is None:
                if child is not None and not child.get("nullable") and child.get("default") is None:
                    del value[key]
            elif type(item) in (dict, list):
                drop_nulls(child, item)
    elif type(value) is list:
        for item in value:
            if type(item) in (dict, list):
                drop_nulls(schema.get("items"), item)


def coerce(schema: Object | None, value: Any, where: _Where, unknown: list[str], strict: bool) -> None:
    """Put the metadata of embedded objects, in place, into the form that all metadata has."""
    if schema is None or not has_embedded(schema):
        return
    if type(value) is dict:
        if schema.get(EMBEDDED) and type(value.get("metadata")) is dict:
            _coerce_metadata(value, where, unknown, strict)
        properties, additional = schema.get("properties") or {}, schema.get("additionalProperties")
        for key, item in value.items():
            child = properties.get(key, additional if type(additional) is dict else None)
            if child is not None:
                coerce(child, item, (where, key), unknown, strict)
    elif type(value) is list:
        for index, item in enumerate(value):
            coerce(schema.get("items"), item, (where, index), unknown, strict)


def _metadata(decoder: Decoder, value: Any) -> Any:
    """Return the metadata, decoded by itself and in the order of its keys, as upstream's errors show it."""
    try:
        if type(value) is dict:
            value = dict(sorted(value.items()))
        return decoder.decode(_META_ROOT, {"metadata": value})["metadata"]
    except DecodeError as error:
        raise DecodeError(str(error).replace("ObjectMeta.metadata.", "ObjectMeta.")) from None


def _coerce_metadata(value: Object, where: _Where, unknown: list[str], strict: bool) -> None:
    decoder, prefix = Decoder(), text(where)
    try:
        value["metadata"] = _metadata(decoder, value["metadata"])
    except DecodeError as error:
        if strict:
            shown = orjson.dumps(value["metadata"]).decode()
            raise DecodeError(f"{prefix}.metadata: Invalid value: {shown}: {error}") from None
        del value["metadata"]  # a stored object must stay readable
        return
    unknown += [f"{prefix}.{path}" if prefix else path for path in decoder.unknown]


def has_embedded(schema: Any) -> bool:
    """Return whether there is an embedded object anywhere in a schema."""
    if type(schema) is not dict:
        return False
    if schema.get(EMBEDDED):
        return True
    if any(has_embedded(child) for child in (schema.get("properties") or {}).values()):
        return True
    return has_embedded(schema.get("items")) or has_embedded(schema.get("additionalProperties"))


def text(where: _Where) -> str:
    """Return a place as errors and warnings write it."""
    parts: list[str] = []
    while where is not None:
        where, step = where
        parts.append(f"[{step}]" if type(step) is int else "." + step)
    return "".join(reversed(parts)).lstrip(".")
