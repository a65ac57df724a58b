"""Which kinds a server has, from its discovery documents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import StatusError, from_answer
from pybernetes.client.refs import Ref

_AGGREGATED = b"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"


@dataclass(frozen=True)
class Served:
    """A kind at one version, and what can be done with it."""

    ref: Ref
    verbs: frozenset[str]

    def can(self, *verbs: str) -> bool:
        """Return whether the kind has all of these verbs."""
        return self.verbs.issuperset(verbs)


@dataclass
class Discovered:
    """Every kind of a server: ``preferred`` has each once, ``versions`` each version of it.

    ``failures`` says why groups and versions are not known, by name.
    """

    preferred: dict[tuple[str, str], Served] = field(default_factory=dict)
    versions: dict[tuple[str, str], Served] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def add(self, served: Served) -> None:
        """Add a kind; the first version of a resource is the preferred one."""
        ref = served.ref
        self.versions[ref.api_version, ref.kind] = served
        self.preferred.setdefault((ref.group, ref.plural), served)

    def find(self, api_version: str, kind: str) -> Served | None:
        """Return the preferred version of the kind that a reference names; None if the server does not have it."""
        exact = self.versions.get((api_version, kind))
        return self.preferred[exact.ref.group, exact.ref.plural] if exact is not None else None


async def discover(client: Client) -> Discovered:
    """Ask the server; groups that cannot be asked are in ``failures``."""
    discovered = Discovered()
    for path in ("/api", "/apis"):
        answer = await _get(client, path)
        if answer.get("kind") == "APIGroupDiscoveryList":
            read_aggregated(answer, discovered)
        else:
            await _ask_each(client, legacy_versions(answer), discovered)
    return discovered


async def _get(client: Client, path: str) -> Object:
    status, value = await client.transport.send("GET", path, "", b"", {b"accept": _AGGREGATED})
    if status >= 400:
        raise from_answer(status, value)
    return value


def read_aggregated(document: Object, discovered: Discovered) -> None:
    """Add the kinds of an aggregated document."""
    for group in document.get("items") or ():
        name = group["metadata"].get("name", "")
        for version in group.get("versions") or ():
            group_version = f"{name}/{version['version']}" if name else version["version"]
            if version.get("freshness") == "Stale":
                discovered.failures[group_version] = "stale GroupVersion discovery"
            for resource in version.get("resources") or ():
                kind = resource.get("responseKind") or {}
                ref = Ref(
                    kind.get("group") or name, kind.get("version") or version["version"], resource["resource"],
                    kind.get("kind", ""), resource["scope"] == "Namespaced",
                )  # fmt: skip
                if ref.group == name and ref.version == version["version"]:
                    discovered.add(Served(ref, frozenset(resource.get("verbs") or ())))


def legacy_versions(document: Object) -> Iterable[str]:
    """Yield the groups and versions that a document without resources names, preferred ones first."""
    if "versions" in document:
        yield from document["versions"]
    for group in document.get("groups") or ():
        names = [version["groupVersion"] for version in group.get("versions") or ()]
        preferred = (group.get("preferredVersion") or {}).get("groupVersion")
        yield from sorted(names, key=lambda name: name != preferred)


async def _ask_each(client: Client, group_versions: Iterable[str], discovered: Discovered) -> None:
    for group_version in group_versions:
        group, _, version = group_version.rpartition("/")
        try:
            document = await client.call("GET", f"/apis/{group_version}" if group else f"/api/{version}")
        except StatusError as error:
            discovered.failures[group_version] = error.message
            continue
        for resource in document.get("resources") or ():
            if "/" not in resource["name"]:
                ref = Ref(group, version, resource["name"], resource["kind"], resource["namespaced"])
                discovered.add(Served(ref, frozenset(resource.get("verbs") or ())))
