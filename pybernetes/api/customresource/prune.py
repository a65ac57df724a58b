"""An object made to fit its schema: fields that the schema does not have go, and nulls where none may be."""

from __future__ import annotations

from typing import Any

import orjson

from pybernetes.api.customresource.types import EMBEDDED, META, META_FIELDS, PRESERVE
from pybernetes.api.resource import Object
from pybernetes.api.schema import DecodeError, Decoder, Type, named
from pybernetes.api.schema.decode import count_keys
from pybernetes.api.schema.places import MAX_COMPLAINTS, MAX_NOTED, Place, below, text, texts


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
        decoder.noted += head.noted
    unknown: list[Place] = []
    prune({**schema, EMBEDDED: True}, value, None, unknown)
    named = dict(zip(texts(unknown), unknown, strict=False))
    decoder.noted += [named[name] for name in sorted(named)[:MAX_COMPLAINTS]]
    drop_nulls(schema, value)
    coerce(schema, value, None, decoder.noted, strict=True)
    return value


def clean(schema: Object, value: Object) -> Object:
    """Make a stored object, in place, fit a schema that may have changed since it was stored."""
    prune({**schema, EMBEDDED: True}, value, None, [])
    drop_nulls(schema, value)
    coerce(schema, value, None, [], strict=False)
    return value


def prune(schema: Object | None, value: Any, where: Place, unknown: list[Place]) -> None:
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


def _prune_object(schema: Object, value: Object, where: Place, unknown: list[Place]) -> None:
    properties = schema.get("properties") or {}
    additional = schema.get("additionalProperties")
    keeps, embedded = schema.get(PRESERVE), schema.get(EMBEDDED)
    dropped = []
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
                if len(unknown) < MAX_NOTED:
                    unknown.append((where, key))
            dropped.append(key)
    for key in dropped:
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


def coerce(schema: Object | None, value: Any, where: Place, unknown: list[Place], strict: bool) -> None:
    """Put the metadata of embedded objects, in place, into the form that all metadata has."""
    holders: set[int] = set()
    if _note_holders(schema, holders):
        _coerce(schema, value, where, unknown, strict, holders)


def _coerce(
    schema: Object | None, value: Any, where: Place, unknown: list[Place], strict: bool, holders: set[int]
) -> None:
    if schema is None or id(schema) not in holders:
        return
    if type(value) is dict:
        if schema.get(EMBEDDED) and type(value.get("metadata")) is dict:
            _coerce_metadata(value, where, unknown, strict)
        properties, additional = schema.get("properties") or {}, schema.get("additionalProperties")
        for key, item in value.items():
            child = properties.get(key, additional if type(additional) is dict else None)
            if child is not None:
                _coerce(child, item, (where, key), unknown, strict, holders)
    elif type(value) is list:
        for index, item in enumerate(value):
            _coerce(schema.get("items"), item, (where, index), unknown, strict, holders)


def _metadata(decoder: Decoder, value: Any) -> Any:
    """Return the metadata, decoded by itself and in the order of its keys, as upstream's errors show it."""
    try:
        if type(value) is dict:
            value = dict(sorted(value.items()))
        return decoder.decode(_META_ROOT, {"metadata": value})["metadata"]
    except DecodeError as error:
        raise DecodeError(str(error).replace("ObjectMeta.metadata.", "ObjectMeta.")) from None


def _coerce_metadata(value: Object, where: Place, unknown: list[Place], strict: bool) -> None:
    decoder = Decoder()
    try:
        value["metadata"] = _metadata(decoder, value["metadata"])
    except DecodeError as error:
        if strict:
            shown = orjson.dumps(value["metadata"]).decode()
            raise DecodeError(f"{text(where)}.metadata: Invalid value: {shown}: {error}") from None
        del value["metadata"]  # a stored object must stay readable
        return
    unknown += [below(where, place) for place in decoder.noted[: MAX_NOTED - len(unknown)]]


def _note_holders(schema: Any, holders: set[int]) -> bool:
    """Note which parts of a schema have an embedded object anywhere in them; return whether the whole has."""
    if type(schema) is not dict:
        return False
    children = [
        *(schema.get("properties") or {}).values(),
        schema.get("items"),
        schema.get("additionalProperties"),
    ]
    held = [_note_holders(child, holders) for child in children]
    if schema.get(EMBEDDED) or any(held):
        holders.add(id(schema))
        return True
    return False
