"""Which form of an answer the client wants, and what form its own body has."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

from pybernetes.api import errors, protobuf
from pybernetes.control_plane.apiserver.http.messages import Request

OFFERED = ("application/json", "application/yaml")
_TRANSFORMS = ("Table", "PartialObjectMetadata", "PartialObjectMetadataList")


@dataclass(frozen=True, slots=True)
class Representation:
    """A form of answer: ``transform`` is empty, Table, PartialObjectMetadata or its list."""

    media: str = "application/json"
    transform: str = ""
    version: str = "v1"
    pretty: bool = False


JSON = Representation()


@lru_cache(maxsize=512)
def _accepted(accept: str) -> Representation | None:
    """The first form of an Accept header that we have; the client's order and q-values decide."""
    if not accept:
        return JSON
    wanted = []
    for position, part in enumerate(accept.split(",")):
        media, *parameters = (item.strip() for item in part.split(";"))
        options = dict(item.partition("=")[::2] for item in parameters)
        try:
            quality = float(options.get("q", "1"))
        except ValueError:
            quality = 1.0
        wanted.append((-quality, position, media.lower(), options))
    for _, _, media, options in sorted(wanted, key=lambda item: item[:2]):
        if media in ("*/*", "application/*"):
            media = "application/json"
        if media not in OFFERED:
            continue
        transform = options.get("as", "")
        if transform:
            if transform not in _TRANSFORMS or options.get("g") != "meta.k8s.io":
                continue
            if options.get("v") not in ("v1", "v1beta1"):
                continue
        return Representation(media, transform, options.get("v", "v1"), options.get("pretty") == "1")
    return None


def representation(request: Request) -> Representation:
    """The form that a request asks for; 406 if we have none that it accepts."""
    accept = request.headers.get(b"accept")
    found = _accepted(accept.decode("latin-1")) if accept else JSON
    if found is None:
        raise errors.not_acceptable(OFFERED)
    if wants_pretty(request):
        return Representation(found.media, found.transform, found.version, True)
    return found


def wants_pretty(request: Request) -> bool:
    """Whether the answer is for human eyes."""
    if "pretty" in request.query_text:
        value = request.parameter("pretty")
        if value:
            return value in ("1", "t", "T", "true", "TRUE", "True")
    return request.headers.get(b"user-agent", b"").startswith((b"curl", b"Wget", b"Mozilla/5.0"))


def encode(value: Any, form: Representation) -> bytes:
    """An object in a form."""
    if form.media == "application/yaml":
        import yaml  # only now: few clients ask for it

        dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
        return yaml.dump(value, Dumper=dumper, sort_keys=False, allow_unicode=True).encode()
    if form.pretty:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    return orjson.dumps(value)


_KEY = re.compile(rb'"\s*:')


class Body:
    """A decoded body, and how many keys its text seems to have (at least as many as there are)."""

    __slots__ = ("raw", "value", "yaml")

    def __init__(self, value: Any, raw: bytes, is_yaml: bool) -> None:
        self.value, self.raw, self.yaml = value, raw, is_yaml

    def duplicates(self, keys: int) -> list[str]:
        """Fields that are there twice, given the number of keys in the decoded value.

        Text with no more key marks than the value has keys has no duplicate, which spares the slow parse.
        """
        if self.yaml or len(_KEY.findall(self.raw)) == keys:
            return []
        return _find_duplicates(self.raw)


def _find_duplicates(raw: bytes) -> list[str]:
    import json

    class Pairs(list[tuple[str, Any]]):
        """An object's members in order, as opposed to an array."""

    found: list[str] = []

    def walk(value: Any, path: str) -> None:
        if isinstance(value, Pairs):
            seen: set[str] = set()
            for key, item in value:
                here = f"{path}.{key}" if path else key
                if key in seen:
                    found.append(here)
                seen.add(key)
                walk(item, here)
        elif isinstance(value, list):
            for index, item in enumerate(value):
                walk(item, f"{path}[{index}]")

    walk(json.loads(raw, object_pairs_hook=Pairs), "")
    return found


def read_body(
    request: Request, content_types: tuple[str, ...] = OFFERED, default: tuple[str, str, str] = ("", "v1", "")
) -> Body:
    """The body of a request as a JSON value; 415 for another media type, 400 for malformed text.

    ``default`` is the group, version and kind of a protobuf body that does not say.
    """
    given = request.header(b"content-type")
    media = given.partition(";")[0].strip().lower() or "application/json"
    if media == protobuf.MEDIA_TYPE and content_types is OFFERED:
        return _read_protobuf(request, default)
    if media not in content_types:
        raise errors.unsupported_media_type(content_types)
    return parse_body(request.body, "yaml" in media)


def _read_protobuf(request: Request, default: tuple[str, str, str]) -> Body:
    try:
        return Body(protobuf.decode(request.body, default), b"", True)
    except protobuf.ProtobufError as error:
        raise errors.bad_request(f"the object provided is unrecognized: {error}") from None


def parse_body(raw: bytes, is_yaml: bool) -> Body:
    """A JSON or YAML text as a JSON value."""
    if not is_yaml:
        try:
            return Body(orjson.loads(raw), raw, False)
        except orjson.JSONDecodeError as error:
            raise errors.bad_request(
                "the object provided is unrecognized (must be of type JSON): "
                f"couldn't get version/kind; json parse error: {error}"
            ) from None
    import yaml

    try:
        value = yaml.load(raw, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        # Dates and other YAML types have no place in JSON: the round trip refuses or flattens them.
        return Body(orjson.loads(orjson.dumps(value, default=str)), raw, True)
    except (yaml.YAMLError, TypeError, ValueError, RecursionError) as error:
        raise errors.bad_request(f"error converting YAML to JSON: {error}") from None
