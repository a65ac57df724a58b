"""Answers requests for OpenAPI documents, which are written when first asked for and kept compressed."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from email.utils import formatdate
from urllib.parse import parse_qs

import orjson

from pybernetes.api.resource import Resource
from pybernetes.api.schema import load
from pybernetes.control_plane.apiserver.openapi import protobuf
from pybernetes.control_plane.apiserver.openapi.documents import Documents, Key
from pybernetes.control_plane.apiserver.openapi.schemas import Schema
from pybernetes.lib.clock import Clock
from pybernetes.lib.http import accept as negotiation
from pybernetes.lib.memory.forgetting import on_forget

Response = tuple[int, dict[str, str], bytes]
_JSON = "application/json"
_V3_TYPES = (_JSON,)
_YEAR = 365 * 86400


@dataclass(frozen=True, slots=True)
class _Document:
    hash: str
    compressed: bytes


def _keep(body: bytes) -> _Document:
    # Level 1 is a third of the work of the default for a tenth more bytes.
    return _Document(hashlib.sha512(body).hexdigest().upper(), gzip.compress(body, 1, mtime=0))


class OpenApi:
    """The documents of everything that is served."""

    def __init__(self, resources: Iterable[Resource] = (), clock: Clock | None = None) -> None:
        self._resources = {_key(resource): resource for resource in resources}
        self._custom: dict[Key, Schema | None] = {}
        self._clock = clock or Clock()
        self._v3: dict[str, _Document] = {}
        self._v2: dict[str, _Document] = {}
        self._index: bytes = b""
        # Grows with each change: documents are written beside the event loop, and what changed meanwhile is not kept.
        self._changes = 0
        # The document that was last asked for in plain text: many who ask for it at once share one copy.
        self._plain: tuple[_Document, bytes] | None = None
        on_forget(self.forget)
        # Documents of servers behind this one, by the place of their version.
        self._foreign: dict[str, tuple[bytes | None, bytes | None]] = {}

    def set_foreign(self, group: str, version: str, v3: bytes | None, v2: bytes | None) -> None:
        """Add what another server says about a version of a group; None for both takes it out.

        Whoever adds it has made sure that ours with its paths and definitions can still be written.
        """
        place = f"apis/{group}/{version}"
        if self._foreign.get(place, (None, None)) == (v3, v2):
            return
        self._foreign[place] = (v3, v2)
        self._v3.pop(place, None)
        self._v2, self._index = {}, b""
        self._changes += 1

    def forget(self) -> None:
        """Keep documents compressed alone."""
        self._plain = None

    def add(self, resource: Resource, schema: Schema | None) -> None:
        """Serve a custom resource; ``schema`` is its openAPIV3Schema, or None if anything goes."""
        self._resources[_key(resource)] = resource
        self._custom[_key(resource)] = schema
        self._changed(resource)

    def remove(self, resource: Resource) -> None:
        """Serve a resource no longer."""
        self._resources.pop(_key(resource), None)
        self._custom.pop(_key(resource), None)
        self._changed(resource)

    def _changed(self, resource: Resource) -> None:
        self._v3.pop(f"apis/{resource.group}/{resource.version}", None)
        self._v2 = {}
        self._index = b""
        self._changes += 1

    def respond(
        self, path: str, query: str = "", accept: str = "", if_none_match: str = "", accept_encoding: str = ""
    ) -> Response | None:
        """Answer a path below ``/openapi`` with status, headers and body; None for any other path.

        ``query`` is the raw query string. The body is compressed if ``accept_encoding`` allows it.
        """
        packed = "gzip" in accept_encoding
        if path == "/openapi/v2":
            return self._respond_v2(accept, if_none_match, packed)
        if path == "/openapi/v3":
            return _body(200, {"Content-Type": _JSON}, self._write_v3()[0], packed)
        if path.startswith("/openapi/v3/"):
            return self._respond_v3(path, parse_qs(query), accept, if_none_match, packed)
        return None

    def _respond_v3(
        self, path: str, query: dict[str, list[str]], accept: str, if_none_match: str, packed: bool
    ) -> Response:
        document = self._write_v3()[1].get(path.removeprefix("/openapi/v3/"))
        if document is None:
            return 404, {}, b""
        headers = {"Vary": "Accept"}
        media_type = negotiation.best(accept, _V3_TYPES)
        if media_type is None:
            return 406, headers, b""
        headers["ETag"] = f'"{document.hash}"'
        asked = query.get("hash", [""])[0]
        if asked and asked != document.hash:
            # The document has changed since the index was read: the client shall not keep it under the old name.
            headers |= {"Content-Type": media_type, "Location": f"{path}?hash={document.hash}"}
            return 301, headers, b""
        if asked:
            headers["Cache-Control"] = "public, immutable"
            headers["Expires"] = formatdate(self._clock.now() + _YEAR, usegmt=True)
        if negotiation.etag_matches(if_none_match, headers["ETag"]):
            return 304, headers, b""
        headers["Content-Type"] = media_type
        return self._document(headers, document, packed)

    def _respond_v2(self, accept: str, if_none_match: str, packed: bool) -> Response:
        headers = {"Vary": "Accept-Encoding, Accept"}
        wanted = negotiation.best(accept, (_JSON, *protobuf.MEDIA_TYPES))
        if wanted is None:
            return 406, headers, b""
        media_type = _JSON if wanted == _JSON else protobuf.CONTENT_TYPE
        document = self._write_v2(media_type)
        headers["ETag"] = f'"{document.hash}"'
        if negotiation.etag_matches(if_none_match, headers["ETag"]):
            return 304, headers, b""
        headers["Content-Type"] = media_type
        return self._document(headers, document, packed)

    def _document(self, headers: dict[str, str], document: _Document, packed: bool) -> Response:
        if packed:
            return 200, {**headers, "Content-Encoding": "gzip"}, document.compressed
        kept = self._plain
        if kept is None or kept[0] is not document:
            kept = self._plain = (document, gzip.decompress(document.compressed))
        return 200, headers, kept[1]

    def _write_v3(self) -> tuple[bytes, dict[str, _Document]]:
        """Write what is missing of version 3; return the index, which names every document by its hash, and them."""
        index, kept, before = self._index, self._v3, self._changes
        if index:
            return index, kept
        documents, foreign = self._documents(), dict(self._foreign)
        written = {place: kept.get(place) or _keep(documents.v3(place)) for place in documents.paths()}
        written |= {place: _keep(v3) for place, (v3, _) in foreign.items() if v3 is not None}
        paths = {
            place: {"serverRelativeURL": f"/openapi/v3/{place}?hash={document.hash}"}
            for place, document in written.items()
        }
        index = orjson.dumps({"paths": paths})
        if before == self._changes:
            self._v3, self._index = written, index
        load.definitions.cache_clear()  # most of it is prose that nobody needs again
        return index, written

    def _documents(self) -> Documents:
        """Return what writes documents of all that is served now."""
        return Documents(list(self._resources.values()), dict(self._custom))

    def _write_v2(self, media_type: str) -> _Document:
        kept = self._v2  # after a change there is another
        if _JSON not in kept:
            foreign = list(self._foreign.values())
            kept[_JSON] = _keep(_merged(self._documents().v2(), [v2 for _, v2 in foreign if v2 is not None]))
            load.definitions.cache_clear()
        if media_type not in kept:
            # Made from the other form: few clients ask for it, and none is in a hurry.
            plain = orjson.loads(gzip.decompress(kept[_JSON].compressed))
            kept[media_type] = _keep(protobuf.document(plain))
        return kept[media_type]


def _key(resource: Resource) -> Key:
    return resource.group, resource.version, resource.plural


def _merged(own: bytes, others: list[bytes]) -> bytes:
    """Return the document of version 2 with what others serve in it; where both say something, this server is right."""
    if not others:
        return own
    document = orjson.loads(own)
    for other in map(orjson.loads, others):
        for part in ("paths", "definitions"):
            document[part] = {**(other.get(part) or {}), **document[part]}
    return orjson.dumps(document)


def _body(status: int, headers: dict[str, str], body: bytes, packed: bool) -> Response:
    if packed:
        return status, {**headers, "Content-Encoding": "gzip"}, gzip.compress(body, 1, mtime=0)
    return status, headers, body
