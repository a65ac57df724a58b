"""What a value from a file must say before it is taken for an object."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING, log
from pybernetes.tools.kubectl.errors import CommandError, NoConnection, NotValidated, Verbatim

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.tools.kubectl.connection.client import Client


_UNCHECKED = (
    "cannot perform warn validation if server-side field validation is unsupported, skipping validation"
)
IGNORING = "if you choose to ignore these errors, turn validation off with --validate=false"


def validate(value: Any, source: str, client: Client, strict: bool) -> None:
    """Refuse a value that nobody could validate, because it does not say what it is, and a list that is none."""
    wrong = _wrong(value)
    if not wrong and (value["apiVersion"], value["kind"]) == ("v1", "List"):
        items = value.get("items")
        wrong = (
            [text for item in items for text in _wrong(item)] if isinstance(items, list) else _wrong(items)
        )
    if not wrong and str(value["kind"]).endswith("List"):
        from pybernetes.tools.kubectl.resources import list_schema

        if strict:
            reach(client, source)
            wrong = list_schema.complaints(value, client)
        else:
            log.line("schema.go:145", _UNCHECKED, 0, "W")
    if wrong:
        texts = list(dict.fromkeys(wrong))
        shown = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
        raise CommandError(f'error validating "{source}": error validating data: {shown}; {IGNORING}')


def _wrong(value: Any) -> list[str]:
    if not isinstance(value, dict):
        return ["invalid object to validate"]
    return [
        f"{name} not set" if value.get(name) is None else f"{name} isn't string type"
        for name in ("apiVersion", "kind")
        if not isinstance(value.get(name), str)
    ]


_TEXTS = {"name", "namespace", "generateName", "uid", "resourceVersion", "selfLink"}
_MAPS = {"labels", "annotations"}


def _is_plain(metadata: Any) -> bool:
    """Return whether metadata has nothing but texts where texts belong; what is rarer is for the schema to look at."""
    if type(metadata) is not dict:
        return metadata is None
    for name, value in metadata.items():
        if name in _MAPS and type(value) is dict:
            if any(type(item) is not str for item in value.values()):
                return False
        elif value is not None and (name not in _TEXTS or type(value) is not str):
            return False
    return True


def check_metadata(value: Any, source: str) -> None:
    """Refuse an object whose metadata is none: a label that is a number, a name that is a list."""
    metadata = value.get("metadata")
    if _is_plain(metadata):
        return
    from pybernetes.api.schema import DecodeError, Decoder, named

    try:
        Decoder().decode(
            named("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"),
            metadata,
            "metadata",
            "metadataOnlyObject",
        )
    except DecodeError as error:
        raise CommandError(f'unable to decode "{source}": {error}') from None


def check(value: Any, source: str, versioned: bool = True, in_list: bool = False) -> None:
    """Refuse a value that does not say which kind of object it is; or, if it must, of which version."""
    if not isinstance(value, dict):
        kind = _json_type(value)
        raise CommandError(
            f'unable to decode "{source}": json: cannot unmarshal {kind} into Go value of type '
            "unstructured.detector"
        )
    for name in ("kind", "apiVersion"):
        if value.get(name) and not isinstance(value[name], str):
            raise CommandError(
                f'unable to decode "{source}": json: cannot unmarshal {_json_type(value[name])} into Go struct field '
                f"metadataOnlyObject.TypeMeta.{name} of type string"
            )
        if value.get(name):
            continue
        shown = f"{name[0].upper()}{name[1:]}" if name == "kind" else name
        if in_list and not versioned:
            where = f"object has no {name} field{' ' if name == 'kind' else ''}"
            raise Verbatim(
                'unable to get type info from the object "*unstructured.Unstructured": '
                f"Object '{shown}' is missing in '{where}'"
            )
        if name == "kind" or versioned:
            import orjson

            text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
            raise CommandError(f"unable to decode \"{source}\": Object '{shown}' is missing in '{text}'")


def check_list(value: Any, source: str, versioned: bool) -> None:
    """Refuse a list that does not say of which kind it is, or the items of which are none."""
    check(value, source, versioned)
    items = value["items"]
    if items is not None and not isinstance(items, list):
        raise CommandError(
            f'unable to decode "{source}": json: cannot unmarshal {_json_type(items)} into Go struct field '
            "decodeList.items of type []json.RawMessage"
        )


def _json_type(value: Any) -> str:
    return {str: "string", list: "array", bool: "bool", dict: "object"}.get(type(value), "number")


def unknown(
    error: CommandError, value: Any, source: str, validating: bool = False, in_list: bool = False
) -> CommandError:
    """Return the error about a kind that the server does not know, with the name of the object and its file."""
    if not error.message.startswith("no matches"):
        if validating:
            return not_validated(source, error)
        return CommandError(f'unable to recognize "{source}": {error.message}')
    if in_list:
        return Verbatim(f"unable to recognize {error.message.partition(chr(10))[0]}")
    metadata = value.get("metadata") or {}
    where = (
        f'name: "{metadata.get("name") or ""}" namespace: "{metadata.get("namespace") or ""}" from "{source}"'
    )
    return CommandError(f"resource mapping not found for {where}: {error.message}")


def reach(client: Client, source: str) -> None:
    """Refuse an object if the server, which validates it, cannot be reached."""
    try:
        client.open()
    except NoConnection as error:
        address = f"{client.access.server}/openapi/v2?timeout=32s"
        raise not_validated(source, error.about("GET", address)) from None


def not_validated(source: str, error: CommandError) -> NotValidated:
    """Return the error about a file that the server, which validates it, does not look at."""
    why = f"error validating data: failed to download openapi: {error.message}"
    return NotValidated(f'error validating "{source}": {why}; {IGNORING}')
