"""Pushes images to a registry, with the HTTP API of OCI's distribution specification."""

from __future__ import annotations

import base64
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from pybernetes.lib import oci
from pybernetes.lib.http.client import HttpClient, RequestFailed
from pybernetes.lib.http.fetching import located
from pybernetes.lib.http.messages import Reply
from pybernetes.lib.tls import tls
from pybernetes.tools.image.errors import ImageError

_SECONDS = 300.0
_REPOSITORY = re.compile(
    r"(?P<host>[A-Za-z0-9.\[\]:-]+?)/(?P<path>[a-z0-9][a-z0-9._/-]*):(?P<tag>[\w.-]{1,128})\Z"
)


@dataclass(frozen=True, slots=True)
class Target:
    """Where an image goes: a registry, a repository in it, and a tag."""

    host: str
    path: str
    tag: str


def target(name: str) -> Target:
    """Return the parts of an image's name; ImageError if it does not name a registry."""
    match = _REPOSITORY.match(name)
    if match is None:
        raise ImageError(f"{name!r} does not name a registry, a repository and a tag")
    return Target(match["host"], match["path"], match["tag"])


class Registry:
    """One registry. ``plain`` ones are asked without TLS, which only loopback and the brave should do."""

    def __init__(self, host: str, *, plain: bool = False, authority: Path | None = None) -> None:
        context = None if plain else tls.client_context(authority)
        try:
            self._peer, _ = located(f"{'http' if plain else 'https'}://{host}", context)
        except ValueError:
            raise ImageError(f"{host!r} is not the address of a registry") from None
        self._client = HttpClient()
        self._headers = _credentials(host)

    async def push(self, image: oci.Image, path: str, tag: str) -> None:
        """Send what the registry lacks of an image, and give it its tag."""
        for digest, blob in image.blobs().items():
            await self._send_blob(path, digest, blob)
        reply = await self._ask(
            "PUT", f"/v2/{path}/manifests/{tag}", image.manifest(), {"Content-Type": oci.MANIFEST}
        )
        _check(reply, 201, f"the manifest of {path}:{tag}")

    async def _send_blob(self, path: str, digest: str, blob: bytes) -> None:
        if (await self._ask("HEAD", f"/v2/{path}/blobs/{digest}")).status == 200:
            return
        begun = await self._ask("POST", f"/v2/{path}/blobs/uploads/")
        _check(begun, 202, f"an upload to {path}")
        where = urlsplit(begun.header(b"location"))
        if where.hostname and where.hostname != self._peer.host:
            raise ImageError(f"the registry sends the upload to another host, {where.hostname}")
        query = f"{where.query}&" if where.query else ""
        reply = await self._ask(
            "PUT", f"{where.path}?{query}digest={digest}", blob, {"Content-Type": "application/octet-stream"}
        )
        _check(reply, 201, f"the blob {digest}")

    async def _ask(
        self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
    ) -> Reply:
        try:
            return await self._client.send(
                self._peer, method, path, body, {**self._headers, **(headers or {})}, _SECONDS
            )
        except RequestFailed as error:
            raise ImageError(f"the registry {self._peer.address}: {error}") from None

    def close(self) -> None:
        """End the connections."""
        self._client.close()


async def push(images: list[oci.Image], *, plain: bool = False, authority: Path | None = None) -> list[str]:
    """Push images under all of their names, and return the names."""
    pushed = []
    for image in images:
        for name in image.names:
            where = target(name)
            registry = Registry(where.host, plain=plain, authority=authority)
            try:
                await registry.push(image, where.path, where.tag)
            finally:
                registry.close()
            pushed.append(name)
    return pushed


def _check(reply: Reply, status: int, what: str) -> None:
    if reply.status == 401:
        raise ImageError(
            f"the registry wants other credentials for {what}: log in, so that ~/.docker/config.json has them"
        )
    if reply.status != status:
        raise ImageError(
            f"the registry did not take {what}: {reply.status} {reply.body[:500].decode(errors='replace')}"
        )


def _credentials(host: str) -> dict[str, str]:
    """Return the header with the user's credentials, from the file that docker and its kin keep them in."""
    folder = Path(os.environ.get("DOCKER_CONFIG") or Path.home() / ".docker")
    try:
        entry = json.loads((folder / "config.json").read_bytes())["auths"][host]["auth"]
        base64.b64decode(entry, validate=True)
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return {"Authorization": f"Basic {entry}"}
