"""Which resources the server has, from a cache if it is fresh, and which of them a word on the command line means."""

from __future__ import annotations

import os
import time
from collections import namedtuple

from pybernetes.tools.kubectl.errors import CommandError, NoMatch

TYPE_CHECKING = False  # typing's own costs time to import
if TYPE_CHECKING:
    from typing import Any, NamedTuple

    from pybernetes.tools.kubectl.connection.client import Client

_FRESH_SECONDS = 6 * 3600
_AGGREGATED = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
)


if TYPE_CHECKING:

    class _Fields(NamedTuple):
        group: str
        version: str
        plural: str
        singular: str
        kind: str
        namespaced: bool
        verbs: tuple[str, ...] = ()
        short_names: tuple[str, ...] = ()
        categories: tuple[str, ...] = ()
        subresources: tuple[str, ...] = ()
        preferred: bool = True

else:
    _Fields = namedtuple(
        "_Fields",
        "group version plural singular kind namespaced verbs short_names categories subresources preferred",
        defaults=((), (), (), (), True),
    )


class Resource(_Fields):
    """A resource type of the server."""

    __slots__ = ()

    @property
    def api_version(self) -> str:
        """apiVersion of its objects."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def full_name(self) -> str:
        """Its name with its group, as messages have it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def kind_name(self) -> str:
        """Its kind in lower case with its group, as in ``deployment.apps``."""
        return f"{self.kind.lower()}.{self.group}" if self.group else self.kind.lower()


class Discovery:
    """The resources of one server."""

    def __init__(self, client: Client, cache_dir: str) -> None:
        self._client = client
        access = client.access
        name = "".join(
            char if char.isalnum() or char in "-." else "_" for char in access.host_header + access.prefix
        )
        self._file = os.path.join(cache_dir, "pybernetes", f"{name}.resources")
        self._resources: list[Resource] = []
        self._live = False

    def resources(self) -> list[Resource]:
        """Every resource in the server's order, all versions."""
        if not self._resources:
            self._resources = self._cached() or self._fetch()
        return self._resources

    def refresh(self) -> list[Resource]:
        """Asks the server again, unless this was done just now."""
        if not self._live:
            self._resources = self._fetch()
        return self._resources

    def _cached(self) -> list[Resource]:
        import marshal  # the fastest reader that Python has; the file is our own

        try:
            with open(self._file, "rb") as file:
                if time.time() - os.fstat(file.fileno()).st_mtime > _FRESH_SECONDS:
                    return []
                return [Resource(*each) for each in marshal.load(file)]
        except (OSError, ValueError, EOFError, TypeError):
            return []

    def _fetch(self) -> list[Resource]:
        found: list[Resource] = []
        self._live = True
        for path in ("/api", "/apis"):
            answer = self._client.json("GET", path, accept=_AGGREGATED)
            if answer.get("kind") == "APIGroupDiscoveryList":
                for group in answer.get("items") or ():
                    found += _of_group(group)
            else:
                found += self._old(path, answer)
        self._store(found)
        return found

    def _old(self, path: str, answer: dict[str, Any]) -> list[Resource]:
        """The older, slower way: a request for each version of each group."""
        groups = answer.get("groups") or [
            {"name": "", "versions": [{"version": each} for each in answer.get("versions") or ()]}
        ]
        found = []
        for group in groups:
            preferred = (group.get("preferredVersion") or {}).get("version")
            versions = sorted(
                (each["version"] for each in group["versions"]), key=lambda each: each != preferred
            )
            for index, version in enumerate(versions):
                where = f"{path}/{group['name']}/{version}" if group["name"] else f"{path}/{version}"
                listed = self._client.json("GET", where).get("resources") or []
                found += _of_list(group["name"], version, listed, index == 0)
        return found

    def _store(self, found: list[Resource]) -> None:
        import marshal

        try:
            os.makedirs(os.path.dirname(self._file), 0o750, exist_ok=True)
            temporary = f"{self._file}.{os.getpid()}"
            with open(temporary, "wb") as file:
                marshal.dump([tuple(each) for each in found], file)
            os.replace(temporary, self._file)
        except OSError:
            pass  # without a cache the next command asks again

    def find(self, word: str) -> Resource:
        """The resource that a word means: its name, singular, short name or kind, with or without group and version."""
        found = match(self.resources(), word) or match(self.refresh(), word)
        if found is None:
            name, _, group = word.partition(".")
            where = f' in group "{group}"' if group else ""
            raise NoMatch(f'the server doesn\'t have a resource type "{name}"{where}')
        return found

    def of_kind(self, api_version: str, kind: str) -> Resource:
        """The resource of a kind; an error if the server has none."""
        group, _, version = api_version.rpartition("/")
        for resources in (self.resources, self.refresh):
            for each in resources():
                if each.kind == kind and each.group == group and each.version == version:
                    return each
        raise CommandError(
            f'no matches for kind "{kind}" in version "{api_version}"\nensure CRDs are installed first'
        )

    def category(self, word: str) -> list[Resource]:
        """The resources of a category, as ``all``."""
        return [each for each in self.resources() if word in each.categories and each.preferred]


def _of_group(group: dict[str, Any]) -> list[Resource]:
    name = (group.get("metadata") or {}).get("name") or ""
    found = []
    for index, version in enumerate(group.get("versions") or ()):
        for each in version.get("resources") or ():
            kind = (each.get("responseKind") or {}).get("kind") or ""
            if not kind:
                continue
            found.append(
                Resource(
                    name,
                    version["version"],
                    each["resource"],
                    each.get("singularResource") or kind.lower(),
                    kind,
                    each.get("scope") == "Namespaced",
                    tuple(each.get("verbs") or ()),
                    tuple(each.get("shortNames") or ()),
                    tuple(each.get("categories") or ()),
                    tuple(sub["subresource"] for sub in each.get("subresources") or ()),
                    index == 0,
                )
            )
    return found


def _of_list(group: str, version: str, listed: list[dict[str, Any]], preferred: bool) -> list[Resource]:
    names = [each["name"] for each in listed]
    return [
        Resource(
            group,
            version,
            each["name"],
            each.get("singularName") or each["kind"].lower(),
            each["kind"],
            bool(each.get("namespaced")),
            tuple(each.get("verbs") or ()),
            tuple(each.get("shortNames") or ()),
            tuple(each.get("categories") or ()),
            tuple(name.partition("/")[2] for name in names if name.startswith(each["name"] + "/")),
            preferred,
        )
        for each in listed
        if "/" not in each["name"]
    ]


def match(resources: list[Resource], word: str) -> Resource | None:
    """The resource that a word means; the preferred version and the first group win."""
    lower = word.lower()
    name, dot, group = lower.partition(".")
    candidates = [each for each in resources if name in (each.plural, each.singular)]
    if not candidates:
        candidates = [each for each in resources if name in each.short_names]
    if not candidates:
        candidates = [each for each in resources if each.kind.lower() == name]
    if not dot:
        return _preferred(candidates)
    version, more, rest = group.partition(".")
    exact = [each for each in candidates if more and each.version == version and each.group == rest]
    if not exact:
        exact = [each for each in candidates if not more and each.version == version and not each.group]
    exact = exact or [each for each in candidates if each.group == group]
    exact = exact or [each for each in candidates if each.group.startswith(group)]
    return _preferred(exact)


def _preferred(candidates: list[Resource]) -> Resource | None:
    for each in candidates:
        if each.preferred:
            return each
    return candidates[0] if candidates else None
