"""The API server's metrics, under upstream's names.

A request costs one dictionary look-up and a few additions: a record exists for each combination of labels,
and everything else (label texts, sums over codes, the text format) happens when somebody scrapes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pybernetes.api import version
from pybernetes.api.resource import Resource
from pybernetes.lib.metrics.counts import Histograms
from pybernetes.lib.metrics.exposition import Exposition, Labels
from pybernetes.lib.metrics.histogram import MANY, Histogram, merged

DURATIONS = (
    0.005,
    0.025,
    0.05,
    0.1,
    0.2,
    0.4,
    0.6,
    0.8,
    1.0,
    1.25,
    1.5,
    2,
    3,
    4,
    5,
    6,
    8,
    10,
    15,
    20,
    30,
    45,
    60,
)
STORAGE_DURATIONS = DURATIONS
# The buckets of the SLI begin with the third.
SLI_DURATIONS = DURATIONS[2:]
SIZES = (1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9)
EVENT_SIZES = (1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072)
WATCH_LIST_DURATIONS = (*DURATIONS[2:], 90, 120, 180, 300)
_VERBS = {"create": "POST", "update": "PUT", "proxy": "CONNECT"}
_OWN_PATHS = ("/healthz", "/livez", "/readyz")

# verb, resource (None for other paths), subresource or path, scope, code, dry run
_Key = tuple[str, "Resource | None", str, str, int, str]


class _Requests:
    """Requests with the same labels, response code included."""

    __slots__ = ("durations", "moved", "sizes")

    def __init__(self) -> None:
        self.durations = Histogram(DURATIONS)
        self.sizes = Histogram(SIZES)
        # How the durations of requests with time that is not the server's own differ for their SLI.
        self.moved: Histogram | None = None

    def set_aside(self, whole: float, own: float) -> None:
        """Note a request of which the SLI has less than the whole duration."""
        if self.moved is None:
            self.moved = Histogram(DURATIONS)
        self.moved.observe(whole, -1)
        self.moved.observe(own)

    def own(self) -> Histogram:
        """Return the durations without what was set aside, in the buckets of the SLI."""
        parts = (self.durations,) if self.moved is None else (self.durations, self.moved)
        return merged(parts, SLI_DURATIONS)


class Gauge:
    """A number that goes up and down; change ``value`` itself."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0


class Events:
    """What was sent to the watchers of one resource."""

    __slots__ = ("sizes",)

    def __init__(self) -> None:
        self.sizes = Histogram(EVENT_SIZES)

    def sent(self, size: int, watchers: int = 1) -> None:
        """Count one event of this many bytes, sent to this many watchers."""
        self.sizes.observe(size, watchers)


class Metrics:
    """Every metric of one API server."""

    def __init__(self) -> None:
        self._requests: dict[_Key, _Requests] = {}
        self._long_running: dict[tuple[str, Resource, str, str], Gauge] = {}
        self._events: dict[Resource, Events] = {}
        self._storage: dict[tuple[str, Resource], Histogram] = {}
        self._watch_lists = Histograms(
            "apiserver_watch_list_duration_seconds",
            "Seconds until a watch had sent the state that it begins with.",
            WATCH_LIST_DURATIONS,
            ("group", "version", "resource", "scope"),
        )
        self.in_flight_reads = Gauge()
        self.in_flight_writes = Gauge()
        # How many objects of each kind there are, their changes, and the bytes of the database: asked only when scraped.
        self.count_objects: Callable[[], Iterable[tuple[Resource, int]]] = lambda: ()
        self.count_events: Callable[[], Iterable[tuple[Resource, int]]] = lambda: ()
        self.database_size: Callable[[], int | None] = lambda: None
        self.native_histograms = True
        self.more: list[Callable[[Exposition], None]] = []  # what other parts of the server have to tell

    def observe(
        self,
        verb: str,
        resource: Resource | None,
        subresource: str,
        scope: str,
        code: int,
        seconds: float,
        size: int = 0,
        dry_run: str = "",
        aside: float = 0.0,
    ) -> None:
        """Count a finished request; ``aside`` are seconds of it that its SLI leaves out.

        ``verb`` is the API's ("list", "create", "apply"); ``scope`` is cluster, namespace or resource; for a
        path without a resource, ``subresource`` is the path: one that is served, never what a client made up,
        or the records would grow without bound.
        """
        key = (verb, resource, subresource, scope, code, dry_run)
        try:
            record = self._requests[key]
        except KeyError:
            record = self._requests[key] = _Requests()
        durations, sizes = record.durations, record.sizes
        durations.waiting.append(seconds)
        sizes.waiting.append(size)
        if len(durations.waiting) >= MANY:
            durations.collect()
            sizes.collect()
        if aside:
            record.set_aside(seconds, max(0.0, seconds - aside))

    def long_running(self, verb: str, resource: Resource, subresource: str, scope: str) -> Gauge:
        """Return the gauge of open watches, proxies and streams of one kind; add and take away one."""
        return self._long_running.setdefault((verb, resource, subresource, scope), Gauge())

    def events(self, resource: Resource) -> Events:
        """Return the events that watchers of a resource were sent; keep it beside what sends them."""
        return self._events.setdefault(resource, Events())

    def watch_list(self, resource: Resource, scope: str, seconds: float) -> None:
        """Count a watch that began with the state, and how long that took."""
        self._watch_lists.observe(seconds, resource.group, resource.version, resource.plural, scope)

    def observe_storage(self, operation: str, resource: Resource, seconds: float) -> None:
        """Count a finished operation of the store: get, list, create, update, delete."""
        key = (operation, resource)
        record = self._storage.get(key)
        if record is None:
            record = self._storage[key] = Histogram(STORAGE_DURATIONS)
        record.observe(seconds)

    def forget(self, resource: Resource) -> None:
        """Drop what was counted of a resource that is served no longer."""
        tables: tuple[dict[Any, Any], ...] = (self._requests, self._long_running, self._storage)
        for table in tables:
            for key in [key for key in table if key[1] is resource]:
                del table[key]
        self._events.pop(resource, None)
        gone = (resource.group, resource.version, resource.plural)
        for values in [values for values in self._watch_lists.values if values[:3] == gone]:
            del self._watch_lists.values[values]

    def render(self, out: Exposition) -> Iterator[None]:
        """Write everything for a scrape, a little with each step: together it may be megabytes."""
        yield from self._render_requests(out)
        yield from self._render_watches(out)
        yield from self._render_storage(out)
        for render in list(self.more):
            render(out)
            yield
        version.render(out)
        out.process()

    def _render_requests(self, out: Exposition) -> Iterator[None]:
        out.family(
            "apiserver_request_total", "counter", "Requests by verb, resource, scope and response code."
        )
        groups: dict[tuple[Any, ...], list[_Requests]] = {}
        for (verb, resource, subresource, scope, code, dry_run), record in list(self._requests.items()):
            labels = _request_labels(verb, resource, subresource, scope, code=str(code), dry_run=dry_run)
            out.sample("apiserver_request_total", labels, record.durations.number)
            groups.setdefault((verb, resource, subresource, scope, dry_run), []).append(record)
            yield
        out.family("apiserver_request_duration_seconds", "histogram", "Seconds until a request was answered.")
        for (verb, resource, subresource, scope, dry_run), records in groups.items():
            labels = _request_labels(verb, resource, subresource, scope, dry_run=dry_run)
            durations = merged((record.durations for record in records), DURATIONS)
            out.histogram("apiserver_request_duration_seconds", labels, durations)
            yield
        name = "apiserver_request_sli_duration_seconds"
        out.family(
            name,
            "histogram",
            "Seconds until a request was answered, without those in a queue and at webhooks.",
        )
        own: dict[tuple[Any, ...], list[_Requests]] = {}
        for group, records in groups.items():
            own.setdefault(group[:4], []).extend(records)
        for group, records in own.items():
            durations = merged((record.own() for record in records), SLI_DURATIONS)
            out.histogram(name, _request_labels(*group), durations)
            yield
        out.family("apiserver_response_sizes", "histogram", "Bytes of the bodies of responses.")
        for group, records in own.items():
            sizes = merged((record.sizes for record in records), SIZES)
            out.histogram("apiserver_response_sizes", _request_labels(*group), sizes)
            yield
        name = "apiserver_requested_deprecated_apis"
        out.family(name, "gauge", "Deprecated APIs that were asked for.")
        for resource, subresource in dict.fromkeys(
            (resource, subresource) for _, resource, subresource, _ in own
        ):
            if resource is not None and resource.deprecated:
                labels = [*_versioned(resource), ("subresource", subresource), ("removed_release", "")]
                out.sample(name, sorted(labels), 1)
        name = "apiserver_current_inflight_requests"
        out.family(name, "gauge", "Requests that are being handled now.")
        out.sample(name, [("request_kind", "mutating")], self.in_flight_writes.value)
        out.sample(name, [("request_kind", "readOnly")], self.in_flight_reads.value)

    def _render_watches(self, out: Exposition) -> Iterator[None]:
        name = "apiserver_longrunning_requests"
        out.family(name, "gauge", "Open watches, proxies and streams.")
        for key, gauge in list(self._long_running.items()):
            out.sample(name, _request_labels(*key), gauge.value)
            yield
        self._watch_lists.write(out)
        events = list(self._events.items())
        out.family("apiserver_watch_events_total", "counter", "Events sent to watching clients.")
        for resource, record in events:
            out.sample("apiserver_watch_events_total", _versioned(resource), record.sizes.number)
            yield
        out.family("apiserver_watch_events_sizes", "histogram", "Bytes of events sent to watching clients.")
        for resource, record in events:
            labels = _versioned(resource)
            out.histogram("apiserver_watch_events_sizes", labels, record.sizes)
            yield

    def _render_storage(self, out: Exposition) -> Iterator[None]:
        counted = list(self.count_objects())
        out.family("apiserver_storage_objects", "gauge", "Stored objects by kind.")
        for resource, count in counted:
            name = f"{resource.plural}.{resource.group}" if resource.group else resource.plural
            out.sample("apiserver_storage_objects", [("resource", name)], count)
        out.family("apiserver_resource_objects", "gauge", "Stored objects by group and resource.")
        for resource, count in counted:
            out.sample("apiserver_resource_objects", _named(resource), count)
            yield
        name = "apiserver_storage_events_received_total"
        out.family(name, "counter", "Changes that came from the store, by kind.")
        for resource, count in self.count_events():
            out.sample(name, _named(resource), count)
        size = self.database_size()
        if size is not None:
            out.family("apiserver_storage_size_bytes", "gauge", "Bytes that the database takes.")
            out.sample("apiserver_storage_size_bytes", [("storage_cluster_id", "etcd-0")], size)
        operations = list(self._storage.items())
        out.family("etcd_requests_total", "counter", "Operations of the store, whichever it is.")
        for (operation, resource), record in operations:
            out.sample("etcd_requests_total", _operation(operation, resource), record.number)
            yield
        out.family(
            "etcd_request_duration_seconds", "histogram", "Seconds that an operation of the store took."
        )
        for (operation, resource), record in operations:
            labels = _operation(operation, resource)
            out.histogram("etcd_request_duration_seconds", labels, record)
            yield


def _request_labels(
    verb: str, resource: Resource | None, subresource: str, scope: str, **more: str
) -> Labels:
    labels = {
        "component": "" if resource is None and subresource.startswith(_OWN_PATHS) else "apiserver",
        "group": resource.group if resource else "",
        "resource": resource.plural if resource else "",
        "scope": scope,
        "subresource": subresource,
        "verb": _VERBS.get(verb, verb.upper()),
        "version": resource.version if resource else "",
        **more,
    }
    return sorted(labels.items())


def _named(resource: Resource) -> Labels:
    return [("group", resource.group), ("resource", resource.plural)]


def _versioned(resource: Resource) -> Labels:
    return [*_named(resource), ("version", resource.version)]


def _operation(operation: str, resource: Resource) -> Labels:
    return [("group", resource.group), ("operation", operation), ("resource", resource.plural)]
