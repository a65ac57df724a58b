"""Which resources the server has, from a cache if it is fresh, and which of them a word on the command line means."""

from __future__ import annotations

import os
import time
from operator import itemgetter

from pybernetes.tools.kubectl import TYPE_CHECKING, log
from pybernetes.tools.kubectl.errors import ApiError, CommandError, NoConnection, NoMatch

if TYPE_CHECKING:
    from typing import NamedTuple

    from pybernetes.api.resource import Object
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
    _NAMES = (
        "group version plural singular kind namespaced verbs short_names categories subresources preferred"
    )
    _DEFAULTS = ((), (), (), (), True)

    class _Fields(tuple):
        """What the class above is; making a named tuple takes longer than all else that this module does at start."""

        __slots__ = ()

        def __new__(cls, *fields):
            return tuple.__new__(cls, fields + _DEFAULTS[len(fields) - 6 :])  # the first six have no default

    for _index, _name in enumerate(_NAMES.split()):
        setattr(_Fields, _name, property(itemgetter(_index)))


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


def _no_link(path: str, flags: int) -> int:
    """Open a file of the cache as its owner alone may change it, and never what a link there leads to."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o640)


def _tell(error: CommandError) -> None:
    text = f'"Couldn\'t get current server API group list" err={log.quoted_value(error.message)}'
    log.line("memcache.go:381", text, 0, "E")
    skipped = '"Skipped caching discovery info due to error" err='
    log.line("cached_discovery.go:153", f"{skipped}{log.quoted_value(error.message)}", 3)


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
        self._warned: set[tuple[str, str]] = set()

    def resources(self, attempts: int = 0) -> list[Resource]:
        """Return every resource in the server's order, all versions; see ``_ask`` for attempts."""
        if not self._resources:
            self._resources = self._cached() or self._ask(attempts)
        return self._resources

    def refresh(self, attempts: int = 0) -> list[Resource]:
        """Ask the server again, unless this was done just now."""
        if not self._live:
            self._resources = self._ask(attempts)
        return self._resources

    def _ask(self, attempts: int) -> list[Resource]:
        """Ask the server; tell each time that it does not answer, and give up after so many attempts.

        With no attempts it is asked once, and nothing is told. The numbers are those of the original: 1 to find the
        resource of a kind or of a category, 2 for a name, 4 for a word that may be either.
        """
        for _ in range(attempts - 1):
            try:
                return self._fetch()
            except (NoConnection, ApiError) as error:
                _tell(error)
        try:
            return self._fetch()
        except (NoConnection, ApiError) as error:
            if attempts:
                _tell(error)
            raise

    def _cached(self) -> list[Resource]:
        import marshal  # the fastest reader that Python has, and no reader for what others wrote

        try:
            with open(self._file, "rb", opener=_no_link) as file:
                state = os.fstat(file.fileno())
                if state.st_uid != os.geteuid() or state.st_mode & 0o022:
                    return []
                if time.time() - state.st_mtime > _FRESH_SECONDS:
                    return []
                return [Resource(*fields) for fields in marshal.load(file)]
        except (OSError, ValueError, EOFError, TypeError):
            return []

    def _fetch(self) -> list[Resource]:
        from pybernetes.tools.kubectl.resources.discovery_answers import of_group

        resources: list[Resource] = []
        for path in ("/api", "/apis"):
            answer = self._client.about_server(path, accept=_AGGREGATED)
            if answer.get("kind") == "APIGroupDiscoveryList":
                for group in answer.get("items") or ():
                    resources += of_group(group)
            else:
                resources += self._old(path, answer)
        self._live = True
        self._store(resources)
        return resources

    def _old(self, path: str, answer: Object) -> list[Resource]:
        """Return the resources with a request for each version of each group, for servers without aggregated discovery."""
        from pybernetes.tools.kubectl.connection.client import quote
        from pybernetes.tools.kubectl.resources.discovery_answers import objects, of_list, texts_of

        groups = objects(answer, "groups") or [
            {"versions": [{"version": version} for version in texts_of(answer.get("versions"))]}
        ]
        resources = []
        for group in groups:
            name = group.get("name") or ""
            preferred = (group.get("preferredVersion") or {}).get("version")
            versions = sorted(
                texts_of([version.get("version") for version in objects(group, "versions")]),
                key=lambda version: version != preferred,
            )
            for index, version in enumerate(versions):
                where = f"{path}/{quote(name)}/{quote(version)}" if name else f"{path}/{quote(version)}"
                listed = objects(self._client.json("GET", where), "resources")
                resources += of_list(name, version, listed, index == 0)
        return resources

    def _store(self, resources: list[Resource]) -> None:
        import marshal

        try:
            os.makedirs(os.path.dirname(self._file), 0o750, exist_ok=True)
            temporary = f"{self._file}.{os.getpid()}"
            with open(temporary, "wb", opener=_no_link) as file:
                marshal.dump([tuple(resource) for resource in resources], file)
            os.replace(temporary, self._file)
        except OSError:
            pass  # without a cache the next command asks again

    def find(self, word: str, attempts: int = 0) -> Resource:
        """Return the resource that a word means: its name, singular, short name or kind, with or without group and version."""
        attempts = attempts or (6 if word.count(".") > 1 else 4)
        resource = match(self.resources(attempts), word) or match(self.refresh(attempts - 1), word)
        if resource is None:
            name, _, group = word.partition(".")
            where = f' in group "{group}"' if group else ""
            raise NoMatch(f'the server doesn\'t have a resource type "{name}"{where}')
        if word in resource.short_names and word not in (resource.plural, resource.singular):
            self._warn_of_others(word, resource)
        return resource

    def _warn_of_others(self, word: str, chosen: Resource) -> None:
        """Tell which other resources have the same short name, once."""
        others = [
            resource.full_name
            for resource in self._resources
            if word in resource.short_names and resource.full_name != chosen.full_name
        ]
        for name in dict.fromkeys(others):
            if (word, name) not in self._warned:
                self._warned.add((word, name))
                self._client.warn(f'short name "{word}" could also match lower priority resource {name}')

    def of_kind(self, api_version: str, kind: str, attempts: int = 1, settled: bool = False) -> Resource:
        """Return the resource of a kind; an error if the server has none.

        Without a version it has none, and nothing can be asked of it, unless the one that the server prefers is to settle it.
        """
        group, _, version = api_version.rpartition("/")
        for resources in (self.resources, self.refresh):
            for resource in resources(attempts):
                if kind in (resource.kind, resource.kind.lower()) and resource.group == group:
                    if resource.version == version:
                        return resource
                    if not version and resource.preferred:
                        return resource if settled else Resource(group, "", *resource[2:])
        if kind == "List":
            return Resource(group, version, "lists", "list", kind, False)
        raise CommandError(
            f'no matches for kind "{kind}" in version "{api_version}"\nensure CRDs are installed first'
        )

    def category(self, word: str) -> list[Resource]:
        """Return the resources of a category, as ``all``; none if the server cannot be asked."""
        try:
            known = self.resources(1)
        except (NoConnection, ApiError):
            return []
        return [resource for resource in known if word in resource.categories and resource.preferred]


def match(resources: list[Resource], word: str) -> Resource | None:
    """Return the resource that a word means; the preferred version and the first group win.

    ``NAME.GROUP`` takes the beginning of a group, too. ``NAME.VERSION.GROUP`` is read first as what it says, then as a name and
    a group with a dot in it; a short name means its resource in the version that the server prefers, whatever the word says.
    """
    name, dot, rest = word.partition(".")
    version, more, group = rest.partition(".")
    chosen: list[Resource] = []
    if more:
        chosen = _named(resources, name, group, version)
    chosen = chosen or _named(resources, name, rest)
    if not chosen:
        # In small letters kinds are known with their groups only.
        kinds = [kind for kind in resources if kind.kind == name or (dot and kind.kind.lower() == name)]
        if more:
            chosen = [kind for kind in kinds if kind.version == version and kind.group == group]
        chosen = chosen or [kind for kind in kinds if not dot or kind.group == rest]
    return _preferred(chosen)


def _named(resources: list[Resource], name: str, group: str, version: str = "") -> list[Resource]:
    """Return the resources with a name, or with a short name if none of the group has it as its own."""
    lower = name.lower()
    named = [resource for resource in resources if lower in (resource.plural, resource.singular)]
    if version:
        exact = [
            resource
            for resource in named
            if resource.version == version and (not group or resource.group == group)
        ]
    else:
        exact = _of_group(named, group)
    if exact or any(name in (resource.plural, resource.singular) for resource in _of_group(named, group)):
        return exact
    return _of_group([resource for resource in resources if name in resource.short_names], group)


def _of_group(resources: list[Resource], group: str) -> list[Resource]:
    """Return the resources of a group, or else those of groups that begin like it."""
    if not group:
        return resources
    return [resource for resource in resources if resource.group == group] or [
        resource for resource in resources if resource.group.startswith(group)
    ]


def _preferred(candidates: list[Resource]) -> Resource | None:
    for resource in candidates:
        if resource.preferred:
            return resource
    return candidates[0] if candidates else None


def split_word(word: str) -> tuple[str, str]:
    """Return the resource and the name of a word such as ``pod/web``."""
    parts = word.split("/")
    if len(parts) > 2:
        raise CommandError("arguments in resource/name form may not have more than one slash")
    if len(parts) < 2 or not parts[0] or not parts[1] or "," in parts[0]:
        raise CommandError("arguments in resource/name form must have a single resource and name")
    return parts[0], parts[1]


def with_types(words: list[str]) -> list[str]:
    """Return words in which several types stand before names as a type and a name each: ``pod,svc web``."""
    types = list(dict.fromkeys(words[0].split(","))) if len(words) >= 2 else []
    if len(types) < 2:
        return words
    return [f"{type_name}/{name}" for type_name in types for name in words[1:]]
