"""Rights that are narrow stay narrow: one name in a list, one subresource of a kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.control_plane.apiserver.authz.users import RBAC, As, grant
from tests.servers import Server

MAPS = "/api/v1/namespaces/default/configmaps"
MINE = "fieldSelector=metadata.name%3Dmine"
WATCH = "watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
MERGE = "application/merge-patch+json"


@pytest.fixture
def reader(server: Server, admin: As) -> Iterator[As]:
    """Yield somebody who may list and watch the config map ``mine``."""
    for name in ("mine", "theirs"):
        assert admin("POST", MAPS, {"metadata": {"name": name}, "data": {"word": f"of-{name}"}})[0] == 201
    names = {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["mine"]}
    rule = {**names, "verbs": ["get", "list", "watch", "deletecollection"]}
    grant(admin, "one-name", rule, to={"kind": "User", "name": "nobody"}, namespace="default")
    yield As(server, "nobody")
    admin("DELETE", f"{RBAC}/namespaces/default/rolebindings/one-name")
    admin("DELETE", f"{RBAC}/clusterroles/one-name")
    for name in ("mine", "theirs"):
        admin("DELETE", f"{MAPS}/{name}")


@pytest.mark.parametrize(
    "query",
    [
        "", "fieldSelector=", "fieldSelector=metadata.name%3Dtheirs", "fieldSelector=metadata.name!%3Dtheirs",
        f"fieldSelector=&{MINE}", f"fieldSelector=metadata.name%3Dtheirs&{MINE}", "fieldselector=metadata.name%3Dmine",
        "labelSelector=metadata.name%3Dmine", "fieldSelector=metadata.name%3Dmine%2F..%2Ftheirs", "fieldSelector=metadata.name%3D",
        f"{MINE}&fieldSelector=", f"{MINE}&fieldSelector=metadata.name%3Dtheirs", f"{MINE}%2Cmetadata.name%3Dtheirs", f"{MINE}&limit=1",
        f"{MINE}&resourceVersion=0", f"{MINE}&resourceVersion=1&resourceVersionMatch=NotOlderThan", f"{MINE}&labelSelector=",
        "fieldSelector=metadata.name%3D%3Dmine", MINE,
    ],
)  # fmt: skip
def test_a_list_of_one_name_shows_that_one_alone(reader: As, query: str) -> None:
    wanted = (query.startswith(MINE) or "%3D%3Dmine" in query) and "%2F" not in query
    # A watch that is allowed takes a second: two of them are enough.
    for more in ("", WATCH) if not wanted or query in (MINE, f"{MINE}&fieldSelector=") else ("",):
        headers = {"Authorization": f"Bearer {reader.token}"}
        reader.connection.request("GET", f"{MAPS}?{query}&{more}", headers=headers)
        response = reader.connection.getresponse()
        text = response.read()
        assert b"of-theirs" not in text, (query, more)
        assert response.status in ((200, 400) if wanted else (400, 403)), (query, response.status, text)
        if query == MINE:
            assert b"of-mine" in text, more


def test_a_right_to_one_name_deletes_no_collection(reader: As, admin: As) -> None:
    for query in ("", MINE, f"{MINE}&fieldSelector="):
        assert reader("DELETE", f"{MAPS}?{query}")[0] == 403
    assert admin("GET", f"{MAPS}/mine")[0] == admin("GET", f"{MAPS}/theirs")[0] == 200


def test_a_status_is_a_status_only(server: Server, admin: As) -> None:
    """Who may write statuses changes nothing else with them."""
    path = "/apis/apps/v1/namespaces/default/deployments"
    rule = {"apiGroups": ["apps"], "resources": ["deployments/status"], "verbs": ["get", "update", "patch"]}
    grant(admin, "statuses", rule, to={"kind": "User", "name": "nobody"}, namespace="default")
    user = As(server, "nobody")
    template: Any = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    spec = {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    try:
        made = admin("POST", path, {"metadata": {"name": "d"}, "spec": spec})[1]
        change = {
            "metadata": {"labels": {"x": "y"}},
            "spec": {"replicas": 9},
            "status": {"observedGeneration": 5},
        }
        status, answer = user("PATCH", f"{path}/d/status", change, MERGE)
        assert (status, answer["spec"], answer["status"]["observedGeneration"]) == (200, made["spec"], 5)
        assert "labels" not in answer["metadata"] and answer["metadata"]["generation"] == 1
        for method, where in (
            ("PATCH", f"{path}/d"),
            ("PATCH", f"{path}/d/scale"),
            ("GET", f"{path}/d"),
            ("DELETE", f"{path}/d"),
        ):
            body = None if method in ("GET", "DELETE") else change
            assert user(method, where, body, MERGE)[0] == 403, where
    finally:
        admin("DELETE", f"{path}/d")
        admin("DELETE", f"{RBAC}/namespaces/default/rolebindings/statuses")
        admin("DELETE", f"{RBAC}/clusterroles/statuses")
