"""A store with objects in it, and plugins to be asked about writes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

import orjson

from pybernetes.api.errors import StatusError
from pybernetes.api.registry import builtin
from pybernetes.control_plane.apiserver.admission import setup
from pybernetes.control_plane.apiserver.admission.attributes import Attributes
from pybernetes.control_plane.apiserver.admission.chain import Chain
from pybernetes.control_plane.apiserver.admission.plugin import PluginInputs
from pybernetes.control_plane.apiserver.admission.setup import all_plugins
from pybernetes.control_plane.apiserver.assembly.server_context import new_context
from pybernetes.control_plane.apiserver.authn.user import MASTERS, User
from pybernetes.control_plane.apiserver.authz import authorization
from pybernetes.control_plane.apiserver.authz.verdict import ALLOWED, NO_OPINION, Rules, Verdict
from pybernetes.control_plane.apiserver.request_info import RequestInfo
from pybernetes.control_plane.apiserver.storage.kinds import Kinds
from pybernetes.control_plane.apiserver.storage.resource_version import stamp
from pybernetes.control_plane.store.open import open_store
from pybernetes.control_plane.store.protocol import Store
from pybernetes.lib.flags import defaults

Object = dict[str, Any]
ADMIN = User("admin", groups=(MASTERS,))
USER = User("user")


class Permissions:
    """An authorizer that knows what it allows: verb, resource and name."""

    name = "Test"

    def __init__(self) -> None:
        self.allowed: set[tuple[str, str, str]] = set()
        self.asked: list[RequestInfo] = []

    def start(self) -> None:
        pass

    def authorize(self, user: User, info: RequestInfo) -> Verdict:
        self.asked.append(info)
        resource = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
        return ALLOWED if (info.verb, resource, info.name) in self.allowed else NO_OPINION

    def rules(self, user: User, namespace: str) -> Rules:
        return Rules()


class World(AbstractAsyncContextManager["World"]):
    """An API server's parts without the server."""

    def __init__(self, store: Store | None = None) -> None:
        self.store = store or open_store("memory", stamp=stamp)
        self.context = new_context(self.store, Kinds(builtin()), clock=lambda: 1_700_000_000.0)
        self.permissions = Permissions()
        self.context.authorization = authorization.Authorization([self.permissions])
        self.warnings: list[str] = []
        self.annotations: dict[str, str] = {}

    async def __aenter__(self) -> World:
        await self.store.start()
        await self.add("", "namespaces", {"metadata": {"name": "one"}})
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.store.close()

    async def add(self, group: str, plural: str, obj: Object, namespace: str = "one") -> None:
        """Store an object as it is."""
        kind = self.context.kinds.find(group, plural)
        obj = copy.deepcopy(obj)
        if kind.namespaced:
            obj["metadata"].setdefault("namespace", namespace)
        obj["metadata"].setdefault("uid", f"uid-of-{obj['metadata']['name']}")
        obj = {"kind": kind.resource.kind, "apiVersion": kind.resource.api_version, **obj}
        key = kind.key(obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
        record = self.store.get(key)
        if record is None:
            await self.store.create(key, kind.serialize(obj))
        else:
            await self.store.update(key, kind.serialize(obj), record.revision)

    def stored(self, group: str, plural: str, name: str, namespace: str = "one") -> Object:
        """Return a stored object."""
        kind = self.context.kinds.find(group, plural)
        record = self.store.get(kind.key(namespace, name))
        assert record is not None
        return orjson.loads(record.value)

    def chain(self, *plugins: str, flags: Mapping[str, Any] | None = None, **configuration: Any) -> Chain:
        """Return plugins by name, with the configuration and the values of flags that are given for them."""
        known, arguments = all_plugins(), defaults(setup.flags(), **(flags or {}))
        return Chain(
            [known[name](PluginInputs(self.context, configuration.get(name), arguments)) for name in plugins]
        )

    async def admit(
        self,
        chain: Chain,
        resource: str,
        new: Object | None,
        old: Object | None = None,
        *,
        operation: str = "",
        subresource: str = "",
        user: User = USER,
        namespace: str = "one",
        name: str = "",
        dry_run: bool = False,
    ) -> Object:
        """Put a write through a chain and return the object; StatusError if it is refused."""
        plural, _, group = resource.partition(".")
        kind = self.context.kinds.find(group, plural)
        operation = operation or ("UPDATE" if old is not None else "CREATE")
        new, old = copy.deepcopy(new), copy.deepcopy(old)
        shown = new or old or {}
        self.warnings, self.annotations = [], {}
        attributes = Attributes(
            operation,
            kind.resource,
            namespace if kind.namespaced else "",
            name or shown.get("metadata", {}).get("name", ""),
            new,
            old,
            user,
            subresource,
            dry_run,
            warn=self.warnings.append,
            annotations=self.annotations,
        )
        await chain.mutate(attributes)
        await chain.validate(attributes)
        return new or {}

    async def refusal(self, chain: Chain, resource: str, *arguments: Any, **options: Any) -> str:
        """Return the message with which a write is refused, or nothing."""
        try:
            await self.admit(chain, resource, *arguments, **options)
        except StatusError as error:
            return error.message
        return ""


def pod(
    name: str = "p", *, metadata: Object | None = None, container: Object | None = None, **spec: Any
) -> Object:
    """Return a small pod."""
    return {
        "metadata": {"name": name, **(metadata or {})},
        "spec": {"containers": [{"name": "c", "image": "i", "resources": {}, **(container or {})}], **spec},
    }


def requests(requests: Object | None = None, limits: Object | None = None) -> Object:
    """Return what a container asks for."""
    amounts = {key: value for key, value in (("requests", requests), ("limits", limits)) if value}
    return {"resources": amounts}


Check = Callable[[World, Chain], Any]
