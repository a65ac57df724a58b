"""Discovery: the documents from which clients learn what is served, legacy and aggregated.

Everything is derived from the ``Resource`` objects that are served now. A document is made when it is first
asked for and kept as bytes until a resource comes or goes.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Callable, Iterable
from typing import Any

import orjson

from pybernetes.api import errors, protobuf
from pybernetes.api.resource import Resource
from pybernetes.api.versions import version_rank
from pybernetes.control_plane.apiserver.discovery import subresource_kinds
from pybernetes.lib.http import accept

JSON, YAML = "application/json", "application/yaml"
_OFFERED = (JSON, YAML, protobuf.MEDIA_TYPE)
_AGGREGATED = {"g": "apidiscovery.k8s.io", "v": "v2", "as": "APIGroupDiscoveryList"}
_AGGREGATED_SUFFIX = ";" + ";".join(f"{key}={value}" for key, value in _AGGREGATED.items())
AGGREGATED_TYPE = JSON + _AGGREGATED_SUFFIX

# How upstream ranks the groups; a higher number comes first. Groups of custom resources have 1000.
GROUP_PRIORITIES: dict[str, int] = {
    "": 18000, "apiregistration.k8s.io": 20000, "apps": 17800, "events.k8s.io": 17750,
    "authentication.k8s.io": 17700, "authorization.k8s.io": 17600, "autoscaling": 17500, "batch": 17400,
    "certificates.k8s.io": 17300, "networking.k8s.io": 17200, "policy": 17100,
    "rbac.authorization.k8s.io": 17000, "storage.k8s.io": 16800, "admissionregistration.k8s.io": 16700,
    "apiextensions.k8s.io": 16700, "scheduling.k8s.io": 16600, "coordination.k8s.io": 16500,
    "node.k8s.io": 16300, "discovery.k8s.io": 16200, "resource.k8s.io": 16200,
    "flowcontrol.apiserver.k8s.io": 16100, "internal.apiserver.k8s.io": 16000,
    "storagemigration.k8s.io": 15800, "lifecycle.k8s.io": 15700,
}  # fmt: skip
_CUSTOM_PRIORITY = 1000


def storage_version_hash(resource: Resource) -> str:
    """Return the name that discovery gives to the stored form of a resource, or "" for one that is not stored."""
    if not {"create", "get"} <= set(resource.verbs):
        return ""
    group, version = resource.storage_version or (resource.group, resource.version)
    digest = hashlib.sha256(f"{group}/{version}/{resource.kind}".encode()).digest()
    return b64encode(digest[:8]).decode()


class Discovery:
    """The served resources, and the discovery documents that describe them."""

    def __init__(self, resources: Iterable[Resource] = (), address: str = "") -> None:
        """Make the documents; ``address`` is the ``host:port`` that clients outside of the cluster are told to use."""
        self._address = address
        self._priorities = dict(GROUP_PRIORITIES)
        self._resources = {self._key(resource): resource for resource in resources}
        self._cache: dict[tuple[str, str, bool], tuple[str, bytes, str]] = {}
        # What servers behind this one serve: rows of the aggregated form, and whether they are out of date.
        self._foreign: dict[tuple[str, str], tuple[list[dict[str, Any]], bool]] = {}
        self.listeners: list[Callable[[], None]] = []  # called when a resource of this server comes or goes

    @staticmethod
    def _key(resource: Resource) -> tuple[str, str, str]:
        return resource.group, resource.version, resource.plural

    def add(self, resource: Resource, priority: int | None = None) -> None:
        """Serve one more resource (or another form of one); ``priority`` ranks its group."""
        self._resources[self._key(resource)] = resource
        if priority is not None:
            self._priorities[resource.group] = priority
        self._changed()

    def remove(self, resource: Resource) -> None:
        """Serve a resource no longer."""
        self._resources.pop(self._key(resource), None)
        self._changed()

    def _changed(self) -> None:
        self._cache.clear()
        for listener in self.listeners:
            listener()

    def set_foreign(
        self,
        group: str,
        version: str,
        rows: list[dict[str, Any]] | None,
        priority: int = _CUSTOM_PRIORITY,
        *,
        stale: bool = False,
    ) -> None:
        """Show what another server serves, in rows of the aggregated form; None shows it no longer."""
        if rows is None:
            self._foreign.pop((group, version), None)
        else:
            self._foreign[group, version] = rows, stale
            self._priorities.setdefault(group, priority)
        self._cache.clear()

    def versions(self) -> set[tuple[str, str]]:
        """Return every group and version that this server serves itself."""
        return {(group, version) for group, version, _ in self._resources}

    def resources(self) -> list[Resource]:
        """Return every resource that is served."""
        return list(self._resources.values())

    def groups(self) -> dict[str, list[str]]:
        """Return every group with its versions, both in the order of preference; the core group is ""."""
        versions: dict[str, set[str]] = {}
        for group, version in (*self.versions(), *self._foreign):
            versions.setdefault(group, set()).add(version)
        ranked = sorted(versions, key=lambda group: (-self._priorities.get(group, _CUSTOM_PRIORITY), group))
        return {group: sorted(versions[group], key=version_rank) for group in ranked}

    def paths(self) -> list[str]:
        """Return the paths of all discovery documents, for the index at ``/``."""
        paths = ["/api", "/apis", "/apis/"]
        for group, versions in self.groups().items():
            base = f"/apis/{group}" if group else "/api"
            paths += [base] * bool(group) + [f"{base}/{version}" for version in versions]
        return sorted(paths)

    def respond(
        self, path: str, accept_header: str = "", pretty: bool = False
    ) -> tuple[str, bytes, str] | None:
        """Answer a discovery path with content type, body and quoted ETag, or None if it is not one.

        Only aggregated documents have an ETag; they go out with ``Vary: Accept`` and
        ``Cache-Control: public``. Raises a 406 error if no form is acceptable.
        """
        path = path.rstrip("/")
        if path.count("/") > 3 or (path != "/api" and not path.startswith(("/api/", "/apis"))):
            return None
        media_type, form = _negotiate(path, accept_header)
        key = (path, media_type + form, pretty)
        cached = self._cache.get(key)
        if cached is None:
            document = self._aggregated(path) if form else self._document(path)
            if document is None:
                return None
            if not media_type:
                raise _not_acceptable(path)
            etag = f'"{hashlib.sha512(orjson.dumps(document)).hexdigest().upper()}"' if form else ""
            cached = self._cache[key] = (media_type + form, _encode(document, media_type, pretty), etag)
        return cached

    def _document(self, path: str) -> dict[str, Any] | None:
        parts = path.strip("/").split("/")
        if parts == ["api"]:
            return {
                "kind": "APIVersions",
                "versions": self.groups().get("", []),
                "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": self._address}],
            }
        if parts == ["apis"]:
            groups = [_group(group, versions) for group, versions in self.groups().items() if group]
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
        if len(parts) == 2 and parts[0] == "apis":
            group_versions = self.groups().get(parts[1])
            return (
                {"kind": "APIGroup", "apiVersion": "v1", **_group(parts[1], group_versions)}
                if group_versions
                else None
            )
        if len(parts) == 2 and parts[0] == "api":
            return self._resource_list("", parts[1])
        if len(parts) == 3 and parts[0] == "apis":
            return self._resource_list(parts[1], parts[2])
        return None

    def _members(self, group: str, version: str) -> list[Resource]:
        members = [
            resource
            for resource in self._resources.values()
            if (resource.group, resource.version) == (group, version)
        ]
        return sorted(members, key=lambda resource: resource.plural)

    def _resource_list(self, group: str, version: str) -> dict[str, Any] | None:
        members = self._members(group, version)
        if not members:
            return None
        rows = [row for resource in members for row in _rows(resource)]
        head: dict[str, Any] = {"kind": "APIResourceList"}
        if group:  # the core group's list never had it
            head["apiVersion"] = "v1"
        return {**head, "groupVersion": f"{group}/{version}" if group else version, "resources": rows}

    def _aggregated(self, path: str) -> dict[str, Any]:
        items = []
        for group, versions in self.groups().items():
            if (path == "/api") == (group == ""):
                served = [self._aggregated_version(group, version) for version in versions]
                items.append({"metadata": {"name": group} if group else {}, "versions": served})
        version = f"{_AGGREGATED['g']}/{_AGGREGATED['v']}"
        return {"kind": _AGGREGATED["as"], "apiVersion": version, "metadata": {}, "items": items}

    def _aggregated_version(self, group: str, version: str) -> dict[str, Any]:
        rows, stale = self._foreign.get((group, version), (None, False))
        if rows is None:
            rows = [_aggregated_row(resource) for resource in self._members(group, version)]
        return {"version": version, "resources": rows, "freshness": "Stale" if stale else "Current"}


def _negotiate(path: str, header: str) -> tuple[str, str]:
    """Return the media type to send ("" if none fits), and the suffix that marks the aggregated form."""
    for clause in accept.parse(header):
        form = ""
        if "as" in clause.parameters:
            if path not in ("/api", "/apis") or not _AGGREGATED.items() <= clause.parameters.items():
                continue  # a form that does not exist here, such as the retired v2beta1
            form = _AGGREGATED_SUFFIX
        for offered in (JSON, YAML) if form else _OFFERED:
            if accept.matches(clause.type, offered):
                return offered, form
    return "", ""


def _group(group: str, versions: list[str]) -> dict[str, Any]:
    listed = [{"groupVersion": f"{group}/{version}", "version": version} for version in versions]
    return {"name": group, "versions": listed, "preferredVersion": dict(listed[0])}


def _add_names(row: dict[str, Any], resource: Resource) -> None:
    """Add the short names and the categories of a resource, if it has any."""
    if resource.short_names:
        row["shortNames"] = list(resource.short_names)
    if resource.categories:
        row["categories"] = list(resource.categories)


def _rows(resource: Resource) -> list[dict[str, Any]]:
    """Return a resource and its subresources as a legacy list shows them."""
    row: dict[str, Any] = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": list(resource.verbs),
    }
    _add_names(row, resource)
    if version_hash := storage_version_hash(resource):
        row["storageVersionHash"] = version_hash
    rows = [row]
    for part in subresource_kinds.of(resource):
        below: dict[str, Any] = {
            "name": f"{resource.plural}/{part.name}",
            "singularName": "",
            "namespaced": resource.namespaced,
        }
        if part.group:
            below |= {"group": part.group, "version": part.version}
        rows.append({**below, "kind": part.kind, "verbs": list(part.verbs)})
    return rows


def _aggregated_row(resource: Resource) -> dict[str, Any]:
    # Upstream names group and version of custom resources, and leaves those of its own kinds empty.
    custom = resource.own_type is not None
    own = {"group": resource.group, "version": resource.version} if custom else {"group": "", "version": ""}
    row: dict[str, Any] = {
        "resource": resource.plural,
        "responseKind": {**own, "kind": resource.kind},
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": list(resource.verbs),
    }
    _add_names(row, resource)
    parts = [
        {
            "subresource": part.name,
            "responseKind": {
                **({"group": part.group, "version": part.version} if part.group else own),
                "kind": part.kind,
            },
            "verbs": list(part.verbs),
        }
        for part in subresource_kinds.of(resource)
    ]
    if parts:
        row["subresources"] = parts
    return row


def _encode(document: dict[str, Any], media_type: str, pretty: bool) -> bytes:
    if media_type == protobuf.MEDIA_TYPE:
        return protobuf.encode({"apiVersion": "", **document})
    if media_type == YAML:
        import yaml  # only clients that ask for it pay for it

        return yaml.safe_dump(document, default_flow_style=False, allow_unicode=True).encode()
    if pretty:
        return orjson.dumps(document, option=orjson.OPT_INDENT_2)
    return orjson.dumps(document) + b"\n"


def _not_acceptable(path: str) -> errors.StatusError:
    if path in ("/api", "/apis"):
        return errors.not_acceptable(_OFFERED)
    message = "406: Not Acceptable\n\nAvailable representations: " + ", ".join(_OFFERED)
    return errors.StatusError(406, "NotAcceptable", message, {})
