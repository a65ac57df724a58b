"""Which form of an answer the client wants, and what form its own body has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from pybernetes.api import errors, protobuf
from pybernetes.control_plane.apiserver.codec import yaml_writer
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.http.accept import LONGEST
from pybernetes.lib.memory.bounded_cache import bounded_cache

TEXTS = ("application/json", "application/yaml")
OFFERED = (*TEXTS, protobuf.MEDIA_TYPE)
_TRANSFORMS = ("Table", "PartialObjectMetadata", "PartialObjectMetadataList")


@dataclass(frozen=True, slots=True)
class Representation:
    """A form of answer: ``transform`` is empty, Table, PartialObjectMetadata or its list."""

    media: str = "application/json"
    transform: str = ""
    version: str = "v1"
    pretty: bool = False


JSON = Representation()
PROTOBUF = Representation(protobuf.MEDIA_TYPE)


@bounded_cache()
def _accepted(accept: bytes) -> Representation | None:
    """Return the first form of an Accept header that we have; the client's order and q-values decide."""
    return _first(accept)


@bounded_cache()
def _accepted_plain(accept: bytes) -> Representation | None:
    """Do what ``_accepted`` does for something that has no Table."""
    return _first(accept, tables=False)


@bounded_cache()
def _accepted_custom(accept: bytes) -> Representation | None:
    """Do what ``_accepted`` does for something that has no message of its own in protobuf: its metadata has."""
    return _first(accept, messages=False)


def _first(accept: bytes, *, tables: bool = True, messages: bool = True) -> Representation | None:
    if len(accept) > LONGEST:
        return None
    wanted = []
    for position, part in enumerate(accept.decode("latin-1").split(",")):
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
            if transform == "Table" and (not tables or media == protobuf.MEDIA_TYPE):
                continue
            if options.get("v") not in ("v1", "v1beta1"):
                continue
        elif media == protobuf.MEDIA_TYPE:
            if not messages:
                continue
            return PROTOBUF
        form = Representation(media, transform, options.get("v", "v1"), options.get("pretty") == "1")
        return JSON if form == JSON else form  # which is recognized by being the same
    return None


def representation(request: Request, messages: bool = True) -> Representation:
    """Return the form that a request asks for; 406 if we have none that it accepts.

    ``messages`` says whether what it asks for has a form in protobuf.
    """
    accept = request.headers.get(b"accept")
    if not accept:
        form: Representation | None = JSON
    else:
        form = _accepted(accept) if messages else _accepted_custom(accept)
    if form is None:
        raise errors.not_acceptable(OFFERED if messages else TEXTS)
    if form is not PROTOBUF and wants_pretty(request):
        return Representation(form.media, form.transform, form.version, True)
    return form


def plain(request: Request) -> Representation:
    """Return the form that a request asks for, of something that has no Table; 406 if it accepts nothing else."""
    accept = request.headers.get(b"accept")
    form = _accepted_plain(accept) if accept else JSON
    if form is None:
        raise errors.not_acceptable(OFFERED)
    if form is PROTOBUF:
        return form
    if form.pretty or not wants_pretty(request):
        return form
    return Representation(form.media, form.transform, form.version, True)


def for_errors(request: Request) -> Representation:
    """Return the form of an error's Status: JSON for clients who accept nothing that there is."""
    accept = request.headers.get(b"accept")
    form = (_accepted(accept) if accept else JSON) or JSON
    if form.media == protobuf.MEDIA_TYPE:
        return PROTOBUF
    pretty = wants_pretty(request)
    return Representation(form.media, pretty=pretty) if pretty or form.media != JSON.media else JSON


def wants_pretty(request: Request) -> bool:
    """Return whether the answer is for human eyes."""
    if "pretty" in request.query_text:
        value = request.parameter("pretty")
        if value:
            return value in ("1", "t", "T", "true", "TRUE", "True")
    return request.headers.get(b"user-agent", b"").startswith((b"curl", b"Wget", b"Mozilla/5.0"))


def encode(value: Any, form: Representation) -> bytes:
    """Return an object in a form. Like upstream, only JSON that is not pretty ends with a newline."""
    if form.media == protobuf.MEDIA_TYPE:
        return protobuf.encode(value)
    if form.media == "application/yaml":
        return yaml_writer.dumps(value)
    if form.pretty:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2)
    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
