"""The incremental protocol: what is sent when, and what an answer means."""

from __future__ import annotations

from typing import Any

from pybernetes.control_plane.gateway.envoy.messages import CLUSTER, ENDPOINTS, LISTENER, TYPE_PREFIX, message
from pybernetes.control_plane.gateway.xds.delta_stream import DeltaStream
from pybernetes.control_plane.gateway.xds.store import Store


def _request(
    type_: str, *subscribe: str, nonce: str = "", error: str = "", leave: tuple[str, ...] = ()
) -> Any:
    fields: dict[str, Any] = {"error_detail": {"code": 3, "message": error}} if error else {}
    fields |= {"type_url": TYPE_PREFIX + type_, "response_nonce": nonce}
    fields |= {"resource_names_subscribe": subscribe, "resource_names_unsubscribe": leave}
    return message("envoy.service.discovery.v3.DeltaDiscoveryRequest", fields)


def _sent(stream: DeltaStream) -> list[tuple[list[str], list[str], str]]:
    return [
        ([entry["name"] for entry in fields["resources"]], fields["removed_resources"], fields["nonce"])
        for fields in stream.responses()
    ]


def _store(*names: str) -> Store:
    store = Store()
    for name in names:
        store.put(CLUSTER, name, message(CLUSTER, {"name": name}))
    return store


def _stream(store: Store) -> DeltaStream:
    stream = DeltaStream(store)
    store.followers.add(stream.changed)
    return stream


def test_only_what_changed_is_sent() -> None:
    store = _store("a", "b")
    stream = _stream(store)
    assert _sent(stream) == [], "nothing before it is asked for"
    stream.receive(_request(CLUSTER))
    assert _sent(stream) == [(["a", "b"], [], "1")]
    assert not stream.is_settled(CLUSTER)
    stream.receive(_request(CLUSTER, nonce="1"))
    assert stream.is_settled(CLUSTER)
    assert _sent(stream) == []
    store.put(CLUSTER, "a", message(CLUSTER, {"name": "a"}))
    assert stream.is_settled(CLUSTER), "the same bytes are no change"
    store.put(CLUSTER, "a", message(CLUSTER, {"name": "a", "alt_stat_name": "x"}))
    store.remove(CLUSTER, "b")
    assert not stream.is_settled(CLUSTER)
    assert _sent(stream) == [(["a"], ["b"], "2")]


def test_names_that_are_asked_for_get_an_answer_even_if_they_do_not_exist() -> None:
    store = _store("a")
    store.put(ENDPOINTS, "a", message(ENDPOINTS, {"cluster_name": "a"}))
    stream = _stream(store)
    stream.receive(_request(ENDPOINTS, "a", "gone"))
    assert _sent(stream) == [(["a"], ["gone"], "1")]
    assert _sent(stream) == []
    stream.receive(_request(ENDPOINTS, "a"))
    assert _sent(stream) == [(["a"], [], "2")], "asked again, it answers again"
    stream.receive(_request(ENDPOINTS, leave=("a",)))
    store.put(ENDPOINTS, "a", message(ENDPOINTS, {"cluster_name": "a", "endpoints": [{}]}))
    assert _sent(stream) == []


def test_a_rejection_is_remembered_until_something_else_is_taken() -> None:
    store = _store("a")
    stream = _stream(store)
    stream.receive(_request(CLUSTER))
    _sent(stream)
    stream.receive(_request(CLUSTER, nonce="1", error="bad name"))
    assert stream.rejected[CLUSTER] == {"a": "bad name"}
    assert stream.is_settled(CLUSTER), "nothing more comes"
    store.put(CLUSTER, "a", message(CLUSTER, {"name": "a", "alt_stat_name": "x"}))
    assert _sent(stream) == [(["a"], [], "2")]
    stream.receive(_request(CLUSTER, nonce="2"))
    assert stream.rejected[CLUSTER] == {}


def test_what_nobody_asks_for_is_not_settled() -> None:
    store = _store()
    store.put(LISTENER, "l", message(LISTENER, {"name": "l"}))
    stream = _stream(store)
    assert stream.is_settled(CLUSTER)
    assert not stream.is_settled(LISTENER)
    stream.receive(_request("envoy.service.runtime.v3.Runtime", "r"))
    assert _sent(stream) == [], "other types are not served"


def test_a_proxy_that_asks_for_everything_is_told_that_there_is_nothing() -> None:
    """Envoy asks for listeners only after it has heard of clusters: a gateway without routes would never be served."""
    stream = _stream(_store())
    stream.receive(_request(CLUSTER))
    assert _sent(stream) == [([], [], "1")]
    stream.receive(_request(CLUSTER, nonce="1"))
    assert _sent(stream) == [] and stream.is_settled(CLUSTER)
    stream.receive(_request(ENDPOINTS, "x"))
    assert _sent(stream) == [([], ["x"], "2")], "by name it is told of what is not there"
