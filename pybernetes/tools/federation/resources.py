"""Finding kinds by the names that people have for them, with the schemas that the server has."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import StatusError
from pybernetes.client.refs import Ref
from pybernetes.control_plane.federation.type_config import qualified
from pybernetes.tools.federation.errors import FederationError

_REF = "#/components/schemas/"
_KIND = "x-kubernetes-group-version-kind"


@dataclass(frozen=True)
class Resource:
    """A kind that the server has in its preferred version."""

    ref: Ref
    singular: str = ""
    short: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its plural with its group."""
        return qualified(self.ref.plural, self.ref.group)

    def is_called(self, name: str) -> bool:
        """Return whether somebody may mean this kind by a name."""
        lower = name.lower()
        known = {self.ref.plural, self.singular, self.ref.kind.lower(), self.name}
        if self.ref.group:
            known.add(f"{self.singular or self.ref.kind.lower()}.{self.ref.group}")
        return lower in known or lower in self.short


async def preferred(client: Client, version: str = "") -> list[Resource]:
    """Return all kinds, each in its group's preferred version, or in the one that is named."""
    groups = await client.call("GET", "/apis")
    wanted = ["v1"]
    for group in groups["groups"]:
        served = [entry["version"] for entry in group["versions"]]
        first = group.get("preferredVersion", {}).get("version", served[0])
        chosen = version if version in served else first
        wanted.append(f"{group['name']}/{chosen}")
        # Some kinds are in other versions of their group only.
        wanted += [f"{group['name']}/{other}" for other in served if other != chosen and not version]
    result: dict[tuple[str, str], Resource] = {}
    for listed in await asyncio.gather(*(_of_version(client, api_version) for api_version in wanted)):
        for resource in listed:
            result.setdefault((resource.ref.group, resource.ref.plural), resource)
    return [resource for resource in result.values() if not version or resource.ref.version == version]


async def _of_version(client: Client, api_version: str) -> list[Resource]:
    group, _, version = api_version.rpartition("/")
    try:
        listed = await client.call("GET", f"/apis/{api_version}" if group else f"/api/{version}")
    except StatusError:
        return []  # a group that another server has, which is away
    return [
        Resource(
            Ref(group, version, entry["name"], entry["kind"], entry["namespaced"]),
            entry.get("singularName", ""),
            tuple(entry.get("shortNames") or ()),
            tuple(entry.get("verbs") or ()),
        )
        for entry in listed.get("resources") or ()
        if "/" not in entry["name"]
    ]


async def find(client: Client, name: str, version: str = "") -> Resource:
    """Return the kind that a name means; those of the core group come first. FederationError if there is not one."""
    return choose(await preferred(client, version), name)


def choose(known: list[Resource], name: str) -> Resource:
    """Return the one of some kinds that a name means."""
    matches = [resource for resource in known if resource.is_called(name)]
    for match in matches:
        if not match.ref.group:
            return match
    if len(matches) > 1:
        names = ", ".join(match.name for match in matches)
        raise FederationError(
            f'Multiple resources are matched by "{name}": {names}. A group-qualified plural name must be provided.'
        )
    if not matches:
        raise FederationError(f'Unable to find api resource named "{name}".')
    return matches[0]


class Schemas:
    """The schemas of one group and version, as the server publishes them."""

    def __init__(self, document: Object) -> None:
        self._schemas: Object = (document.get("components") or {}).get("schemas") or {}

    def resolve(self, reference: str) -> Object:
        """Return the schema that a reference names; one that is unknown is anything."""
        return self._schemas.get(reference.removeprefix(_REF)) or {}

    def of(self, ref: Ref) -> Object:
        """Return the schema of a kind; FederationError if the server has none."""
        wanted = {"group": ref.group, "version": ref.version, "kind": ref.kind}
        for schema in self._schemas.values():
            if wanted in (schema.get(_KIND) or ()):
                return schema
        raise FederationError(f'Unable to find openapi schema for "{ref.api_version}, Kind={ref.kind}"')


async def schemas(client: Client, ref: Ref) -> Schemas:
    """Return the schemas of a kind's group and version."""
    place = f"apis/{ref.group}/{ref.version}" if ref.group else f"api/{ref.version}"
    return Schemas(await client.call("GET", f"/openapi/v3/{place}"))
