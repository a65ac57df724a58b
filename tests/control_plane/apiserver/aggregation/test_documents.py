"""What servers behind this one say about themselves, and what is taken of it."""

from __future__ import annotations

import json
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.api.text import json_reader
from pybernetes.control_plane.apiserver.aggregation import documents
from pybernetes.control_plane.apiserver.discovery.discovery import Discovery
from pybernetes.lib.http.messages import Reply
from tests.support import run

LEGACY = {
    "resources": [
        {
            "name": "flunders",
            "singularName": "flunder",
            "namespaced": True,
            "kind": "Flunder",
            "verbs": ["get"],
        }
    ]
}
ROW = {
    "resource": "flunders", "responseKind": {"group": "g", "version": "v1", "kind": "Flunder"}, "scope": "Namespaced",
    "singularResource": "flunder", "verbs": ["get"],
}  # fmt: skip


async def said(legacy: Any = LEGACY, groups: Any = None, v2: Any = None) -> documents.Said:
    """Return what is taken of these documents."""
    answers = {"/apis/g/v1": legacy, "/apis": groups, "/openapi/v2": v2}

    async def ask(path: str, accepted: str) -> Reply:
        value = answers.get(path)
        return Reply(404) if value is None else Reply(200, (), json.dumps(value).encode())

    return await documents.read(ask, "g", "v1")


def grouped(*rows: Any) -> Any:
    versions = [{"version": "v1", "resources": list(rows)}]
    return {"kind": "APIGroupDiscoveryList", "items": [{"metadata": {"name": "g"}, "versions": versions}]}


async def test_both_forms_say_the_same() -> None:
    assert (await said()).resources == [ROW]
    assert (await said(groups=grouped({**ROW, "surplus": 5}))).resources == [ROW]


@pytest.mark.parametrize(
    "groups",
    [
        {"kind": "APIGroupDiscoveryList", "items": {}},
        {"kind": "APIGroupDiscoveryList", "items": [5]},
        {"kind": "APIGroupDiscoveryList", "items": [{"metadata": "g"}]},
        grouped(5),
        grouped({"resource": 5}),
        grouped({**ROW, "verbs": "get"}),
        grouped({**ROW, "verbs": [{}]}),
        grouped({**ROW, "subresources": [{"responseKind": []}]}),
    ],
)
async def test_a_list_of_groups_that_is_none_is_left_out(groups: Any) -> None:
    assert (await said(groups=groups)).resources == [ROW]


@pytest.mark.parametrize(
    "legacy",
    [[], {}, {"resources": 5}, {"resources": [5]}, {"resources": [{"name": 5}]}, {"resources": [{"name": "a", "verbs": {}}]},
     {"resources": [{"name": "a", "namespaced": "yes"}]}],
)  # fmt: skip
async def test_a_server_that_says_nothing_of_use_is_told(legacy: Any) -> None:
    with pytest.raises(documents.Unusable):
        await said(legacy=legacy)


@pytest.mark.parametrize(
    "v2", [{"paths": [1]}, {"definitions": "x"}, {"paths": 5}, {"definitions": {"Thing": {"type": 5}}}]
)
async def test_a_document_that_cannot_be_merged_is_left_out(v2: Any) -> None:
    """Or the document of everybody could not be made any more."""
    assert (await said(v2=v2)).v2 is None
    kept = (await said(v2={"paths": {"/x": {}}, "definitions": None, "more": 1})).v2
    assert kept is not None and json.loads(kept) == {"paths": {"/x": {}}, "definitions": {}}


async def test_documents_have_a_bound() -> None:
    async def ask(path: str, accepted: str) -> Reply:
        return Reply(200, (), json.dumps(LEGACY).encode() + b" " * (2 << 20))

    with pytest.raises(documents.Unusable, match="too large"):
        await documents.read(ask, "g", "v1")


async def test_large_documents_are_read_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    readers = set()

    def loads(raw: bytes) -> Any:
        readers.add(threading.current_thread() is threading.main_thread())
        return json_reader.loads(raw)

    async def ask(path: str, accepted: str) -> Reply:
        many = b'{"resources":[],"paths":[' + b"{}," * 300_000 + b"1]}"
        return Reply(200, (), many)

    monkeypatch.setattr(
        documents, "json_reader", SimpleNamespace(loads=loads, JsonError=json_reader.JsonError)
    )
    taken = await documents.read(ask, "g", "v1")
    assert (taken.resources, taken.v2, readers) == ([], None, {False})


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["resource", "verbs", "name", "kind", "responseKind", "metadata"]), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(VALUES, VALUES)
def test_whatever_is_said_is_shown_or_refused(row: Any, other: Any) -> None:
    try:
        taken = run(said(legacy={"resources": [row]}, groups=grouped(other)))
    except documents.Unusable:
        return
    discovery = Discovery([])
    discovery.set_foreign("g", "v1", taken.resources)
    for path in ("/apis", "/apis/g/v1"):
        discovery.respond(path, documents.AGGREGATED_TYPE)
