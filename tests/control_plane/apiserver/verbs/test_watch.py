"""Watches that miss and repeat nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.control_plane.apiserver.verbs.config_maps import make, path
from tests.servers import TOKEN, Server
from tests.support import until


@contextmanager
def watching(server: Server, where: str, **query: Any) -> Iterator[Iterator[dict[str, Any]]]:
    connection = server.connection()
    parameters = {"watch": "true", "timeoutSeconds": "60", **query}
    connection.request(
        "GET", f"{where}?{urlencode(parameters)}", headers={"Authorization": f"Bearer {TOKEN}"}
    )
    response = connection.getresponse()
    assert response.status == 200, response.read()
    try:
        yield (json.loads(line) for line in iter(response.readline, b""))
    finally:
        connection.close()


def test_a_watch_sees_all_that_happens_after_its_version(server: Server, namespace: str) -> None:
    first = make(server, namespace, "w")
    server.call("PUT", f"{path(namespace)}/w", {**first, "data": {"a": "1"}})
    server.call("DELETE", f"{path(namespace)}/w")
    version = first["metadata"]["resourceVersion"]
    with watching(server, path(namespace), resourceVersion=version) as events:
        changed, deleted = next(events), next(events)
    assert (changed["type"], changed["object"]["data"]) == ("MODIFIED", {"a": "1"})
    assert deleted["type"] == "DELETED"
    assert int(deleted["object"]["metadata"]["resourceVersion"]) > int(
        changed["object"]["metadata"]["resourceVersion"]
    )


def test_a_watch_without_a_version_starts_with_the_state(server: Server, namespace: str) -> None:
    make(server, namespace, "x")
    with watching(server, path(namespace)) as events:
        assert (event := next(events))["type"] == "ADDED" and event["object"]["metadata"]["name"] == "x"
        make(server, namespace, "y")
        assert next(events)["object"]["metadata"]["name"] == "y"


def test_selected_watches_turn_changes_into_coming_and_going(server: Server, namespace: str) -> None:
    made = make(server, namespace, "l", on="yes")
    version = made["metadata"]["resourceVersion"]
    with watching(server, path(namespace), resourceVersion=version, labelSelector="on=yes") as events:
        for value, expected in (("no", "DELETED"), ("yes", "ADDED"), ("yes", "MODIFIED")):
            body = {"metadata": {"labels": {"on": value}}, "data": {"n": expected}}
            headers = {"Content-Type": "application/merge-patch+json"}
            server.call("PATCH", f"{path(namespace)}/l", body, headers=headers)
            assert next(events)["type"] == expected


def test_streaming_lists_end_with_a_bookmark(server: Server, namespace: str) -> None:
    make(server, namespace, "b1")
    make(server, namespace, "b2")
    query = {
        "sendInitialEvents": "true",
        "resourceVersionMatch": "NotOlderThan",
        "allowWatchBookmarks": "true",
    }
    with watching(server, path(namespace), **query) as events:
        assert [next(events)["object"]["metadata"]["name"] for _ in range(2)] == ["b1", "b2"]
        mark = next(events)
    assert mark["type"] == "BOOKMARK" and mark["object"]["kind"] == "ConfigMap"
    assert mark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_a_watch_ends_when_its_time_is_up(server: Server, namespace: str) -> None:
    with watching(server, path(namespace), timeoutSeconds="1") as events:
        assert list(events) == []


def test_watched_tables_have_their_headings_once(server: Server, namespace: str) -> None:
    make(server, namespace, "t1")
    connection = server.connection()
    accept = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    connection.request("GET", f"{path(namespace)}?watch=1&timeoutSeconds=60", headers=accept)
    response = connection.getresponse()
    first = json.loads(response.readline())["object"]
    make(server, namespace, "t2")
    second = json.loads(response.readline())["object"]
    connection.close()
    assert first["columnDefinitions"] and not second["columnDefinitions"]
    assert second["rows"][0]["cells"][0] == "t2"


def test_long_selectors_of_open_watches_are_bounded(server: Server, namespace: str) -> None:
    """One user's watches hold so much in selectors: then he is told to come again, and others, and he himself, go on."""
    longest = ",".join(f"k{number}" for number in range(2500))
    where = f"{path(namespace)}?{urlencode({'watch': 'true', 'labelSelector': longest})}"
    own, other = (
        {"Authorization": f"Bearer {TOKEN}"},
        {"Impersonate-User": "other", "Impersonate-Group": "system:masters"},
    )

    def ask(headers: dict[str, str]) -> tuple[int, str | None, Any]:
        connection = server.connection()
        connection.request("GET", where, headers=headers)
        response = connection.getresponse()
        opened.append(connection)
        return response.status, response.headers["Retry-After"], response

    opened: list[Any] = []
    try:
        answers = [ask(own)[:2] for _ in range(130)]
        assert answers[0] == (200, None) and answers[-1] == (429, "1")
        assert ask(own | other)[0] == 200
        with watching(server, path(namespace), timeoutSeconds="1", labelSelector="a=b") as events:
            list(events)
    finally:
        for connection in opened:
            connection.close()
    until(lambda: ask(own)[0] == 200)
    opened[-1].close()


@pytest.mark.parametrize(("selector", "odd"), [("", (0, 1)), ("odd=n1", (1,)), ("odd=none", ())])
def test_a_watch_gets_the_many_changes_that_it_missed(
    server: Server, namespace: str, selector: str, odd: tuple[int, ...]
) -> None:
    """They are sent as fast as the client reads, before what happens meanwhile."""
    start = make(server, namespace, "first")["metadata"]["resourceVersion"]
    for number in range(220):
        make(server, namespace, f"m{number}", odd=f"n{number % 2}")
    wanted = [f"m{number}" for number in range(220) if number % 2 in odd]
    with watching(server, path(namespace), resourceVersion=start, labelSelector=selector) as events:
        names = [next(events)["object"]["metadata"]["name"] for _ in wanted]
        make(server, namespace, "last", odd=selector.removeprefix("odd="))
        assert next(events)["object"]["metadata"]["name"] == "last"
    assert names == wanted
