"""The client: what can be done with objects, over any transport."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy as shallow_copy
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import orjson

from pybernetes.client import errors, noted_writes
from pybernetes.client.rate_limiter import RateLimiter
from pybernetes.client.refs import Kindlike, Ref, as_ref, builtin_ref, path_of
from pybernetes.client.request_options import complete, delete_options, namespace_of, query_text, write_query
from pybernetes.client.transport import Bytes, Headers, Transport
from pybernetes.client.watch import Watch

if TYPE_CHECKING:
    from pybernetes.api.resource import Object

JSON_PATCH = "json"
MERGE_PATCH = "merge"
STRATEGIC_PATCH = "strategic"
_PATCH_TYPES = {
    JSON_PATCH: b"application/json-patch+json",
    MERGE_PATCH: b"application/merge-patch+json",
    STRATEGIC_PATCH: b"application/strategic-merge-patch+json",
    "apply": b"application/apply-patch+yaml",
}
_JSON = b"application/json"
_METADATA = b"application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
_METADATA_LIST = b"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
# How many objects a chunk of a list has unless the caller says: as many as kubectl asks for.
CHUNK = 500
_MODIFY_TRIES = 5


Refs = list[Ref]  # named here because `list` is a method below


class Page(NamedTuple):
    """Some or all objects of a list, of one moment. They may be shared within the process: do not change them."""

    items: list[Object]
    resource_version: str
    continue_token: str = ""
    remaining: int | None = None


def copy(obj: Object) -> Object:
    """Return a deep copy that may be changed."""
    return orjson.loads(orjson.dumps(obj))


class Client:
    """Reads and writes objects of any kind. Errors are ``StatusError`` and its subclasses in ``client.errors``.

    What get and the writes give is the caller's own; what list and watch give may be shared within the process
    and is read-only (``copy`` makes a copy that is not).
    """

    def __init__(
        self,
        transport: Transport,
        *,
        user_agent: str = "pybernetes",
        limiter: RateLimiter | None = None,
        namespace: str = "default",
    ) -> None:
        self.transport = transport
        self.namespace = namespace  # of the kubeconfig's context, for programs that work in one
        self.limiter = limiter
        self.guard: Callable[[], None] | None = None  # asked before every write; what it raises ends the call
        self.headers: Headers = {b"user-agent": user_agent.encode()}
        self._metadata: Headers = {**self.headers, b"accept": _METADATA}
        self._metadata_list: Headers = {**self.headers, b"accept": _METADATA_LIST}
        self._typed = {
            kind: {**self.headers, b"content-type": kind} for kind in (_JSON, *_PATCH_TYPES.values())
        }
        self._discovered: dict[tuple[str, str], Ref] = {}

    def limited(self, qps: float, burst: int) -> Client:
        """Return a client with the same connections whose calls have a limit of their own; a rate of 0 is no limit."""
        other = shallow_copy(self)
        other.limiter = RateLimiter(qps, max(1, burst)) if qps > 0 else None
        return other

    def unguarded(self) -> Client:
        """Return a client with the same connections whose writes nobody is asked about."""
        other = shallow_copy(self)
        other.guard = None
        return other

    # -- reading -----------------------------------------------------------------------------------------

    async def get(
        self,
        kind: Kindlike,
        name: str,
        namespace: str = "",
        *,
        resource_version: str = "",
        subresource: str = "",
    ) -> Object:
        """One object; NotFound if there is none. ``resource_version="0"`` allows an answer from a cache."""
        query = f"resourceVersion={resource_version}" if resource_version else ""
        return await self.call("GET", path_of(kind, namespace, name, subresource), query)

    async def list_page(
        self,
        kind: Kindlike,
        namespace: str = "",
        *,
        labels: str = "",
        fields: str = "",
        limit: int = 0,
        continue_token: str = "",
        resource_version: str = "",
        match: str = "",
        metadata_only: bool = False,
    ) -> Page:
        """One chunk of a list, or all of it without a limit."""
        query = query_text(
            labelSelector=labels, fieldSelector=fields, limit=limit or "", resourceVersion=resource_version,
            resourceVersionMatch=match, **{"continue": continue_token},
        )  # fmt: skip
        headers = self._metadata_list if metadata_only else self.headers
        value = await self._call("GET", path_of(kind, namespace), query, b"", headers)
        meta = value["metadata"]
        items = value.get("items") or []
        ref = as_ref(kind)
        if items and "kind" not in items[0]:  # upstream leaves out what the list already says
            for item in items:
                item["kind"], item["apiVersion"] = ref.kind, ref.api_version
        return Page(
            items, meta.get("resourceVersion", ""), meta.get("continue", ""), meta.get("remainingItemCount")
        )

    async def list(
        self, kind: Kindlike, namespace: str = "", *, labels: str = "", fields: str = "", chunk: int = CHUNK,
        resource_version: str = "", metadata_only: bool = False,
    ) -> Page:  # fmt: skip
        """Return every object of a list, fetched in chunks of one moment; if that has expired, all over at once."""

        async def fetch(limit: int, token: str = "") -> Page:
            return await self.list_page(
                kind, namespace, labels=labels, fields=fields, limit=limit, continue_token=token,
                resource_version="" if token else resource_version, metadata_only=metadata_only,
            )  # fmt: skip

        page = await fetch(chunk)
        items, version = page.items, page.resource_version
        while page.continue_token:
            try:
                page = await fetch(chunk, page.continue_token)
            except errors.Expired:
                return await fetch(0)
            items = items + page.items
        return Page(items, version)

    def watch(
        self,
        kind: Kindlike,
        namespace: str = "",
        *,
        name: str = "",
        resource_version: str = "",
        labels: str = "",
        fields: str = "",
        bookmarks: bool = True,
        initial: bool = False,
        timeout: int = 0,
        metadata_only: bool = False,
    ) -> Watch:
        """Watch what happens to objects after a resourceVersion, or from their state of now on.

        With ``initial`` every object comes as ADDED first, and then a bookmark with the annotation
        ``k8s.io/initial-events-end``. The server ends a watch after ``timeout`` seconds. With ``metadata_only``
        no more than the metadata has to come, but it may.
        """
        if name:
            fields = f"{fields},metadata.name={name}" if fields else f"metadata.name={name}"
        query = query_text(
            watch="true", labelSelector=labels, fieldSelector=fields, resourceVersion=resource_version,
            allowWatchBookmarks="true" if bookmarks else "", timeoutSeconds=timeout or "",
            sendInitialEvents="true" if initial else "", resourceVersionMatch="NotOlderThan" if initial else "",
        )  # fmt: skip
        path = path_of(kind, namespace)

        async def open_() -> Any:
            if self.limiter is not None:
                await self.limiter.wait()
            return await self.transport.watch(path, query, self._metadata if metadata_only else self.headers)

        return Watch(open_, resource_version)

    # -- writing -----------------------------------------------------------------------------------------

    async def create(
        self, kind: Kindlike, obj: Object, namespace: str = "", *, name: str = "", subresource: str = "",
        manager: str = "", dry_run: bool = False,
    ) -> Object:  # fmt: skip
        """Create an object, or post to the subresource of the object ``name``. Return what was stored."""
        namespace = namespace or namespace_of(kind, obj)
        path = path_of(kind, namespace, name, subresource)
        query = write_query(manager, dry_run)
        try:
            value = await self.call("POST", path, query, complete(kind, obj, subresource))
        except (OSError, errors.StatusError) as error:
            noted_writes.note_lost(kind, obj, error)
            raise
        return noted_writes.note(kind, value, subresource)

    async def update(
        self, kind: Kindlike, obj: Object, *, subresource: str = "", manager: str = "", dry_run: bool = False
    ) -> Object:
        """Replace an object; Conflict if it was changed since the resourceVersion that ``obj`` carries."""
        meta = obj["metadata"]
        path = path_of(kind, meta.get("namespace", ""), meta["name"], subresource)
        query = write_query(manager, dry_run)
        value = await self.call("PUT", path, query, complete(kind, obj, subresource))
        return noted_writes.note(kind, value, subresource)

    async def update_status(self, kind: Kindlike, obj: Object, *, manager: str = "") -> Object:
        """Replace the status of an object."""
        return await self.update(kind, obj, subresource="status", manager=manager)

    async def modify(
        self, kind: Kindlike, name: str, namespace: str, change: Callable[[Object], None], *, subresource: str = "",
        manager: str = "",
    ) -> Object:  # fmt: skip
        """Read an object, let a function change it and write it, again if somebody else was faster."""
        for attempt in range(_MODIFY_TRIES):
            obj = await self.get(kind, name, namespace)
            change(obj)
            try:
                return await self.update(kind, obj, subresource=subresource, manager=manager)
            except errors.Conflict:
                if attempt == _MODIFY_TRIES - 1:
                    raise
        raise AssertionError("unreachable")

    async def patch(
        self, kind: Kindlike, name: str, patch: Any, namespace: str = "", *, type: str = MERGE_PATCH,
        subresource: str = "", manager: str = "", dry_run: bool = False, force: bool = False,
    ) -> Object:  # fmt: skip
        """Change parts of an object: a merge, strategic or JSON patch, or ``type="apply"``."""
        query = write_query(manager, dry_run, force)
        path = path_of(kind, namespace, name, subresource)
        value = await self.call("PATCH", path, query, patch, _PATCH_TYPES[type])
        return noted_writes.note(kind, value, subresource)

    async def patch_status(self, kind: Kindlike, name: str, patch: Object, namespace: str = "") -> Object:
        """Change parts of the status of an object, with a strategic patch."""
        return await self.patch(kind, name, patch, namespace, type=STRATEGIC_PATCH, subresource="status")

    async def apply(
        self, kind: Kindlike, obj: Object, *, manager: str, force: bool = False, subresource: str = "",
        dry_run: bool = False,
    ) -> Object:  # fmt: skip
        """Server-side apply: makes the fields of ``obj`` be so, as their owner ``manager``."""
        meta = obj["metadata"]
        return await self.patch(
            kind, meta["name"], complete(kind, obj, ""), meta.get("namespace", ""), type="apply",
            subresource=subresource, manager=manager, dry_run=dry_run, force=force,
        )  # fmt: skip

    async def delete(
        self,
        kind: Kindlike,
        name: str,
        namespace: str = "",
        *,
        uid: str = "",
        resource_version: str = "",
        grace: int | None = None,
        propagation: str = "",
        dry_run: bool = False,
    ) -> Object:
        """Delete an object, with ``uid`` and ``resource_version`` as preconditions (Conflict if they fail).

        ``propagation`` is Background, Foreground or Orphan. Gives the object, or a Status if it is gone.
        """
        options = delete_options(grace, propagation, dry_run, uid, resource_version)
        value = await self.call("DELETE", path_of(kind, namespace, name), "", options)
        if not dry_run:
            noted_writes.note_deletion(kind, namespace, name, uid, value)
        return value

    async def delete_collection(
        self, kind: Kindlike, namespace: str = "", *, labels: str = "", fields: str = "", grace: int | None = None,
        propagation: str = "", dry_run: bool = False,
    ) -> Object:  # fmt: skip
        """Delete every object that the selectors choose."""
        query = query_text(labelSelector=labels, fieldSelector=fields)
        options = delete_options(grace, propagation, dry_run)
        return await self.call("DELETE", path_of(kind, namespace), query, options)

    # -- everything else ---------------------------------------------------------------------------------

    async def call(
        self,
        method: str,
        path: str,
        query: str = "",
        body: Any = None,
        content_type: bytes = _JSON,
        accept: str = "",
    ) -> Any:
        """Any call: the decoded answer, or an error. The other methods are made of it."""
        headers = self.headers if body is None else self._typed[content_type]
        if accept:
            headers = {**headers, b"accept": accept.encode()}
        return await self._call(method, path, query, b"" if body is None else orjson.dumps(body), headers)

    async def _call(self, method: str, path: str, query: str, body: bytes, headers: Headers) -> Any:
        if self.limiter is not None:
            await self.limiter.wait()
        if self.guard is not None and method != "GET":
            self.guard()
        status, value = await self.transport.send(method, path, query, body, headers)
        if status >= 400:
            raise errors.from_answer(status, value)
        return value

    async def stream(self, path: str, query: str = "") -> Bytes:
        """Open a body that goes on, such as a log."""
        return await self.transport.stream("GET", path, query, b"", self.headers)

    async def close(self) -> None:
        """Let go of connections."""
        await self.transport.close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def ref(self, api_version: str, kind: str) -> Ref:
        """Return the reference to a kind by apiVersion and kind; ask the server if it is not built in. NotFound if it
        does not know it either."""
        ref = builtin_ref(api_version, kind) or self._discovered.get((api_version, kind))
        if ref is None:
            for ref in await self.discover(api_version):
                self._discovered[ref.api_version, ref.kind] = ref
            ref = self._discovered.get((api_version, kind))
        if ref is None:
            raise errors.NotFound(404, "NotFound", f'no matches for kind "{kind}" in version "{api_version}"')
        return ref

    async def discover(self, api_version: str) -> Refs:
        """Return every kind that the server has in a group and version."""
        group, _, version = api_version.rpartition("/")
        path = quote(f"/apis/{api_version}" if group else f"/api/{api_version}")
        listed = await self.call("GET", path)
        return [
            Ref(resource.get("group") or group, resource.get("version") or version, resource["name"], resource["kind"], resource["namespaced"])
            for resource in listed["resources"]
            if "/" not in resource["name"]
        ]  # fmt: skip
