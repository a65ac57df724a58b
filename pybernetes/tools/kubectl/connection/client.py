"""Calls to the API server, one after another; what is not a success is raised."""

from __future__ import annotations

import os
import sys
import time

from pybernetes.tools.kubectl import TYPE_CHECKING, log
from pybernetes.tools.kubectl.connection.answers import checked
from pybernetes.tools.kubectl.connection.http import Connection, Response
from pybernetes.tools.kubectl.connection.json_text import dumps, loads
from pybernetes.tools.kubectl.errors import ApiError, CommandError, CutOff, NoConnection, escaped
from pybernetes.tools.kubectl.kubeconfig.access import Access

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from pybernetes.api.resource import Object
    from pybernetes.tools.kubectl.resources.discovery import Resource
JSON = "application/json"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
_SAFE = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~")
_PLAIN = _SAFE | frozenset(b"$&+,:;=@")


def quote(text: str) -> str:
    """Return a text escaped for a query or a path."""
    return "".join(chr(byte) if byte in _SAFE else f"%{byte:02X}" for byte in text.encode())


def _segment(text: str) -> str:
    """Return a text escaped as a part of a path, where Go leaves more as it is."""
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in text.encode())


def query_string(query: Any) -> str:
    """Return a query string; parameters without a value are left out."""
    pairs = sorted(query.items() if isinstance(query, dict) else query, key=lambda pair: pair[0])
    parts = []
    for key, value in pairs:
        for item in value if isinstance(value, list) else [value]:
            if item is None or item == "" or item is False:
                continue
            parts.append(f"{quote(key)}={quote('true' if item is True else str(item))}")
    return f"?{'&'.join(parts)}" if parts else ""


_WHO = "the server has asked for the client to provide credentials"
_LATE = (
    '"Unable to decode an event from the watch stream" err="context deadline exceeded (Client.Timeout or context '
    'cancellation while reading body)"'
)


PATCH_TYPES = {
    "merge": "application/merge-patch+json", "strategic": "application/strategic-merge-patch+json",
    "json": "application/json-patch+json", "apply": "application/apply-patch+yaml",
}  # fmt: skip


class Client:
    """A client of one server."""

    def __init__(self, access: Access, timeout: float | None = None, stderr: Any = None) -> None:
        self.access, self.timeout = access, timeout
        self._stderr = stderr
        self._connection = Connection(access, timeout)
        self._known = access.exec is None and not access.provider
        self._warned: set[str] = set()

    def headers(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the headers of a request: who asks, and what is given."""
        if not self._known:
            self._find_out()
            self._known = True  # without credentials nothing is asked
        return {"User-Agent": "kubectl/v1.37.0 (linux/amd64) pybernetes", **self.access.headers, **given}

    def _find_out(self) -> None:
        """Take the credentials that a program or a provider gives."""
        access = self.access
        if access.exec is not None:
            from pybernetes.tools.kubectl.kubeconfig.exec_credentials import credentials

            credentials(access)
        elif "Authorization" not in access.headers:
            from pybernetes.tools.kubectl.kubeconfig.auth_provider import token

            access.headers["Authorization"] = f"Bearer {token(access.provider, access.store_provider)}"

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Any = (),
        accept: str = JSON,
        content_type: str = JSON,
        fresh: bool = False,
    ) -> Response:
        """Send a request; ApiError if the answer is not a success. ``fresh`` takes a connection of its own."""
        headers: dict[str, Any] = {"Accept": accept}
        data: bytes | None = None
        if body is not None:
            data = body if isinstance(body, bytes) else dumps(body)
            if content_type:
                headers["Content-Type"] = content_type
        connection = Connection(self.access, None) if fresh else self._connection
        target = path + query_string(self._limited(query))
        try:
            headers = self.headers(headers)
        except NoConnection as error:  # there are no credentials
            raise error.about(method, self.access.server + target) from None
        response = connection.send(method, target, headers, data)
        for warning in response.warnings:
            self._warn(warning)
        if response.status >= 400:
            raise failure(response, method)
        return response

    def open(self) -> None:
        """Connect to the server before there is a request."""
        self.headers({})
        self._connection.open()

    def _limited(self, query: Any) -> Any:
        """Return a query that tells the server how long we wait."""
        if self.timeout is None:
            return query
        from pybernetes.api.text.durations import show_duration

        pairs = query.items() if isinstance(query, dict) else query
        return [*(pair for pair in pairs if pair[0] != "timeout"), ("timeout", show_duration(self.timeout))]

    def warn(self, message: str) -> None:
        """Print a warning of our own."""
        print(f"Warning: {escaped(message)}", file=self._stderr or sys.stderr, flush=True)

    @property
    def warnings(self) -> int:
        """How many warnings of the server were printed, each of them once."""
        return len(self._warned)

    def _warn(self, text: str) -> None:
        if text in self._warned:
            return
        self._warned.add(text)
        quoted = text.split(" ", 2)[-1].split('"')
        message = text[text.find('"') + 1 : text.rfind('"')] if len(quoted) > 2 else text
        self.warn(message.replace(chr(92) + chr(34), chr(34)))

    def json(self, method: str, path: str, body: Any = None, **options: Any) -> Any:
        """Send a request whose answer is JSON and return its value."""
        raw = self.send(method, path, body, **options).read()
        if log.level >= 8:
            from pybernetes.tools.kubectl.connection import request_log

            request_log.body("Response", raw)
        return _value(raw)

    def about_server(self, path: str, **options: Any) -> Any:
        """Return what a server says of itself; one that does not know us is told about in the same words everywhere."""
        try:
            return self.json("GET", path, query={"timeout": "32s"}, **options)
        except ApiError as error:
            if error.http_code != 401:
                raise
            raise ApiError({**error.status, "message": _WHO}, 401) from None

    def get(self, resource: Resource, namespace: str, name: str, **options: Any) -> Object:
        """Return an object."""
        subresource = options.pop("subresource", "")
        return self.json("GET", _path_of_one(resource, namespace, name, subresource), **options)

    def create(self, resource: Resource, namespace: str, value: Object, **options: Any) -> Object:
        """Create an object; a version that it had when it was read is not sent."""
        metadata = value.get("metadata")
        if isinstance(metadata, dict) and metadata.get("resourceVersion"):
            value = {
                **value,
                "metadata": {name: field for name, field in metadata.items() if name != "resourceVersion"},
            }
        return self.json("POST", path_of(resource, namespace), value, **options)

    def replace(self, resource: Resource, namespace: str, name: str, value: Object, **options: Any) -> Object:
        """Replace an object: the version that it names, or whichever there is."""
        subresource = options.pop("subresource", "")
        path = _path_of_one(resource, namespace, name, subresource)
        if not (value.get("metadata") or {}).get("resourceVersion"):
            try:
                version = self.json("GET", path)["metadata"].get("resourceVersion")
                value = {**value, "metadata": {**(value.get("metadata") or {}), "resourceVersion": version}}
            except CommandError:  # the server says what is wrong, or creates it
                pass
        return self.json("PUT", path, value, **options)

    def patch(
        self, resource: Resource, namespace: str, name: str, patch: Any, kind: str = "merge", **options: Any
    ) -> Object:
        """Change a part of an object. ``kind``: merge, strategic, json, apply."""
        subresource = options.pop("subresource", "")
        path = _path_of_one(resource, namespace, name, subresource)
        return self.json("PATCH", path, patch, content_type=PATCH_TYPES[kind], **options)

    def delete(
        self, resource: Resource, namespace: str, name: str, options: Object | None = None, **query: Any
    ) -> Object:
        """Delete an object."""
        return self.json("DELETE", _path_of_one(resource, namespace, name), options or None, **query)

    def list(
        self, resource: Resource, namespace: str = "", *, chunk: int = 500, accept: str = JSON, **query: Any
    ) -> Object:
        """Return a list, fetched in pieces of ``chunk`` and put together."""
        path = path_of(resource, namespace)
        parameters = {
            {"labels": "labelSelector", "fields": "fieldSelector"}.get(name, name): value
            for name, value in query.items()
        }
        if chunk:
            parameters["limit"] = chunk
        try:
            whole = self.json("GET", path, query=parameters, accept=accept)
        except ApiError as error:
            raise _about_list(error, resource, parameters) from None
        key = "rows" if whole.get("kind") == "Table" else "items"
        following = (whole.get("metadata") or {}).get("continue")
        while following:
            page = self.json("GET", path, query={**parameters, "continue": following}, accept=accept)
            whole[key] = (whole.get(key) or []) + (page.get(key) or [])
            following = (page.get("metadata") or {}).get("continue")
        return whole

    def watch(
        self, resource: Resource, namespace: str = "", *, accept: str = JSON, **query: Any
    ) -> Iterator[Object]:
        """Yield events from now on, or from a resourceVersion on."""
        parameters = {
            {"labels": "labelSelector", "fields": "fieldSelector"}.get(name, name): value
            for name, value in query.items()
        }
        parameters["watch"] = "true"
        timeout = parameters.pop("read_timeout", None)
        limited = timeout is None and self.timeout is not None
        deadline = time.monotonic() + self.timeout if limited and self.timeout else 0.0
        connection = Connection(self.access, None)
        headers = self.headers({"Accept": accept})
        response = connection.send(
            "GET", path_of(resource, namespace) + query_string(self._limited(parameters)), headers, None
        )
        if response.status >= 400:
            raise failure(response, "GET")
        if timeout is not None:
            connection.settimeout(timeout)
        elif limited:
            connection.limit(deadline)
        try:
            for line in response.lines():
                if line.strip():
                    event = _value(line)
                    checked(event.get("object"))
                    yield event
        except TimeoutError:
            if not limited:
                raise
            log.line("streamwatcher.go:117", _LATE, 5)
        except (CutOff, ConnectionError):  # as a watch ends, only not well
            log.line("streamwatcher.go:114", '"Unexpected EOF during watch stream event decoding"', 1)
        finally:
            connection.close()


def _value(raw: bytes) -> Any:
    """Return what an answer says; CommandError if that makes no sense."""
    try:
        return checked(loads(raw))
    except (ValueError, RecursionError) as error:
        raise CommandError(f"the server's answer is not JSON: {error}") from None


def _about_list(error: ApiError, resource: Resource, query: dict[str, Any]) -> ApiError:
    """Return the error of a failed list, naming the selectors that were asked for."""
    if error.reason not in ("BadRequest", "NotFound"):
        return error
    labels, fields = query.get("labelSelector") or "", query.get("fieldSelector") or ""
    what = f"{resource.group}/{resource.version}, Resource={resource.plural}"
    message = f'Unable to find "{what}" that match label selector "{labels}", field selector "{fields}": {error.message}'
    if not labels and not fields:
        message = f'Unable to list "{what}": {error.message}'
    return ApiError({**error.status, "message": message}, error.http_code)


def path_of(resource: Resource, namespace: str = "", name: str = "", subresource: str = "") -> str:
    """Return the path of a collection, an object or a part of it."""
    root = f"/apis/{_segment(resource.group)}" if resource.group else "/api"
    # Names of resources are what a server says, and not always our own; an object of a file may have no version.
    parts = [root, _segment(resource.version)] if resource.version else [root]
    if namespace and resource.namespaced:
        parts += ["namespaces", _segment(namespace)]
    parts.append(_segment(resource.plural))
    if name:
        parts.append(_segment(name))
    if subresource:
        parts.append(subresource)
    return "/".join(parts)


def _path_of_one(resource: Resource, namespace: str, name: str, subresource: str = "") -> str:
    """Return the path of an object, which must have a name: without one the path is that of all objects."""
    if not name:
        raise CommandError("resource name may not be empty")
    return path_of(resource, namespace, name, subresource)


def failure(response: Response, method: str) -> ApiError:
    """Return the error for an answer that is not a success."""
    raw = response.read()
    if log.level >= 8:
        from pybernetes.tools.kubectl.connection import request_log

        request_log.body("Response", raw)
    try:
        value = _value(raw)
    except CommandError:
        value = {}
    if value.get("kind") == "Status":
        return ApiError(value, response.status)
    reasons = {
        400: "BadRequest", 401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 405: "MethodNotAllowed",
        409: "Conflict", 500: "InternalError", 503: "ServiceUnavailable", 504: "Timeout",
    }  # fmt: skip
    messages = {
        401: _WHO,
        404: "the server could not find the requested resource",
        405: "the server does not allow this method on the requested resource",
        503: "the server is currently unable to handle the request",
    }
    text = raw.decode("utf-8", "replace").strip()
    message = (
        messages.get(response.status)
        or text
        or f"the server responded with the status code {response.status}"
    )
    if response.status == 403 and text:
        message = text
    error = ApiError(
        {"reason": reasons.get(response.status, ""), "message": message, "code": response.status}
    )
    error.body = text
    return error


def environment_home() -> str:
    """Return the user's home."""
    return os.environ.get("HOME", "/")
