"""What a value from a file must say before it is taken for an object."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.errors import CommandError, NoConnection, NotValidated

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.tools.kubectl.connection.client import Client


IGNORING = "if you choose to ignore these errors, turn validation off with --validate=false"


def validate(value: Any, source: str) -> None:
    """Refuse a value that nobody could validate, because it does not say what it is."""
    missing = [name for name in ("apiVersion", "kind") if isinstance(value, dict) and value.get(name) is None]
    if missing:
        words = [f"{name} not set" for name in missing]
        shown = words[0] if len(words) == 1 else f"[{', '.join(words)}]"
        raise CommandError(f'error validating "{source}": error validating data: {shown}; {IGNORING}')


_TEXTS = {"name", "namespace", "generateName", "uid", "resourceVersion", "selfLink"}
_MAPS = {"labels", "annotations"}


def _is_plain(metadata: Any) -> bool:
    """Tell whether metadata has nothing but texts where texts belong; what is rarer is for the schema to look at."""
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


def check(value: Any, source: str) -> None:
    """Refuse a value that does not say which kind of object it is."""
    if not isinstance(value, dict):
        kind = {str: "string", list: "array", bool: "bool"}.get(type(value), "number")
        raise CommandError(
            f'unable to decode "{source}": json: cannot unmarshal {kind} into Go value of type '
            "unstructured.detector"
        )
    for name in ("kind", "apiVersion"):
        if not value.get(name):
            import orjson

            text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
            raise CommandError(
                f"unable to decode \"{source}\": Object '{name[0].upper()}{name[1:]}' is missing in '{text}'"
                if name == "kind"
                else f"unable to decode \"{source}\": Object 'apiVersion' is missing in '{text}'"
            )


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
