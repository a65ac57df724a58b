from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.tools.dashboard.search_index import Key, Query, SearchIndex, parse, text_of


def _index(*objects: tuple[str, str, str, dict[str, str]]) -> SearchIndex:
    index = SearchIndex()
    for resource, namespace, name, more in objects:
        index.put(
            Key(resource, namespace, name),
            text_of([("name", name), ("namespace", namespace), *more.items()]),
        )
    return index


INDEX = _index(
    (
        "pods",
        "shop",
        "web",
        {"label": "app=web", "image": "registry.example/nginx:1.27", "address": "10.0.0.7"},
    ),
    ("pods", "shop", "web-2", {"label": "app=web", "owner": "ReplicaSet/web"}),
    ("pods", "bank", "ledger-web", {"uid": "0c9e1f6a-77", "node": "Node-A"}),
    ("deployments.apps", "shop", "web", {"annotation": "team=Kiosk"}),
    ("events", "bank", "ledger.1", {"message": "BackOff: Back-off restarting failed container"}),
    ("nodes", "", "node-a", {"address": "192.168.0.4"}),
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("ledger-web", ["ledger-web"]),
        ("LEDGER-WEB", ["ledger-web"]),
        ("ledger", ["ledger-web", "ledger.1"]),
        ("web", ["web", "web", "web-2", "ledger-web"]),
        ("kind:pods web", ["web", "web-2", "ledger-web"]),
        ("kind:deploy web", ["web"]),
        ("ns:bank web", ["ledger-web"]),
        ("ns:ban web", []),
        ("kind:nodes", ["node-a"]),
        ("app=web", ["web", "web-2"]),
        ("nginx", ["web"]),
        ("10.0.0", ["web"]),
        ("0c9e1f6a", ["ledger-web"]),
        ("replicaset/web", ["web-2"]),
        ("kiosk", ["web"]),
        ("back-off restarting", ["ledger.1"]),
        ("web nginx", ["web"]),
        ("nginx ledger", []),
        ("node-a", ["node-a", "ledger-web"]),
        ("", []),
        ("   ", []),
        ("\x10", []),
        ("nothing", []),
    ],
)
def test_what_is_found_and_in_which_order(text: str, names: list[str]) -> None:
    assert [hit.key.name for hit in INDEX.search(text)] == names


@pytest.mark.parametrize(
    ("text", "field", "shown"),
    [
        ("ledger-web", "name", "ledger-web"),
        ("nginx", "image", "registry.example/nginx:1.27"),
        ("web 10.0.0.7", "address", "10.0.0.7"),
        ("failed", "message", "backoff: back-off restarting failed container"),
    ],
)
def test_why_it_was_found(text: str, field: str, shown: str) -> None:
    (hit,) = INDEX.search(text)
    assert (hit.field, hit.text) == (field, shown)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Web  Shop", Query(("web", "shop"))),
        ("kind:Pods x", Query(("x",), "pods")),
        ("ns:a k:b", Query((), "b", "a")),
        ("kind: image:1.2", Query(("kind:", "image:1.2"))),
        ("a\nb\x00c", Query(("a", "b", "c"))),
        ("x" * 1000, Query(("x" * 200,))),
    ],
)
def test_queries(text: str, query: Query) -> None:
    assert parse(text) == query


def test_changes_are_found_and_what_is_gone_is_not() -> None:
    index = _index(("pods", "a", "one", {"label": "v=1"}))
    key = Key("pods", "a", "one")
    index.put(key, text_of([("name", "one"), ("label", "v=2")]))
    assert [hit.key for hit in index.search("v=2")] == [key] and index.search("v=1") == []
    index.remove(key)
    index.remove(key)
    assert index.search("one") == [] and len(index) == 0


def test_names_come_first_however_many_have_the_word_elsewhere() -> None:
    index = SearchIndex()
    for number in range(5000):
        index.put(
            Key("pods", "a", f"pod-{number}"), text_of([("name", f"pod-{number}"), ("label", "app=target")])
        )
    index.put(Key("pods", "a", "target"), text_of([("name", "target")]))
    hits = index.search("target", limit=10)
    assert len(hits) == 10 and hits[0].key.name == "target"


_names = st.text("abc-", min_size=1, max_size=4)


@given(st.lists(st.tuples(st.booleans(), _names, st.text("abcxyz\n=", max_size=6)), max_size=40), _names)
def test_it_finds_what_looking_at_everything_finds(changes: list[tuple[bool, str, str]], word: str) -> None:
    index, model = SearchIndex(), dict[str, str]()
    for put, name, label in changes:
        if put:
            model[name] = label
            index.put(Key("pods", "", name), text_of([("name", name), ("label", label)]))
        else:
            model.pop(name, None)
            index.remove(Key("pods", "", name))
    expected = {name for name, label in model.items() if word in name or word in label.replace("\n", " ")}
    assert {hit.key.name for hit in index.search(word)} == expected
    assert len(index) == len(model)


def test_blocks_are_filled_again() -> None:
    index = SearchIndex()
    for turn in range(5):
        for number in range(600):
            index.put(Key("pods", str(turn), str(number)), text_of([("name", str(number))]))
        for number in range(600):
            index.remove(Key("pods", str(turn), str(number)))
    assert len(index._blocks) <= 4
