"""Stored objects that cannot be read, seen from the API: named, refused, and deleted only on demand."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.control_plane.apiserver.verbs.config_maps import make, path
from tests.control_plane.apiserver.verbs.test_watch import watching
from tests.control_plane.store.etcd_server import etcd
from tests.servers import Server, running
from tests.support import require_program, until

IGNORE = "ignoreStoreReadErrorWithClusterBreakingPotential"
CASES = {
    "garbage": b"\x00\xff garbage",
    "half": b'{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"broken",',
    "kind": b'{"kind":"Secret","apiVersion":"v1","metadata":{"name":"broken","namespace":"default"}}',
    "version": b'{"kind":"ConfigMap","apiVersion":"v9","metadata":{"name":"broken","namespace":"default"}}',
    "protobuf": b"k8s\x00\x0a\x03\xff\xff",
}


def damage(data: Path, *keys: str) -> None:
    """Change rows of a store that is not open."""
    with closing(sqlite3.connect(data / "store.db", isolation_level=None)) as connection:
        for key in keys:
            done = connection.execute("UPDATE records SET value = value || x'20' WHERE key LIKE ?", (key,))
            assert done.rowcount, key


@contextmanager
def one_damaged(store: str, directory: Path) -> Iterator[Server]:
    """Yield a server that has one good ConfigMap and one that cannot be read."""
    with ExitStack() as stack:
        if store == "sqlite":
            with running(directory) as server:
                make(server, "default", "good")
                make(server, "default", "broken")
            damage(directory / "data", "/registry/configmaps/default/broken")
            yield stack.enter_context(running(directory))
        else:
            require_program("etcd")
            require_program("etcdctl")
            (member,) = stack.enter_context(etcd(directory / "etcd"))
            server = stack.enter_context(running(directory, f"--etcd-servers={member.address}"))
            make(server, "default", "good")
            put(member.address, CASES["garbage"])
            until(lambda: server.call("GET", f"{path('default')}/broken")[0] == 500)
            yield server


@pytest.fixture(scope="module", params=["sqlite", "etcd"])
def damaged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Yield a server with damage that everybody only looks at."""
    with one_damaged(request.param, tmp_path_factory.mktemp("damage")) as server:
        yield server


@pytest.fixture(params=["sqlite", "etcd"])
def repaired(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    """Yield a server whose damage is to be removed."""
    with one_damaged(request.param, tmp_path) as server:
        yield server


def put(address: str, value: bytes, key: str = "/registry/configmaps/default/broken") -> None:
    command = ["etcdctl", f"--endpoints={address}", "put", key]
    subprocess.run(command, input=value, check=True, capture_output=True, env={"ETCDCTL_API": "3"})


def test_reads_name_it_and_nothing_is_served(damaged: Server) -> None:
    status, answer = damaged.call("GET", f"{path('default')}/broken")
    assert (status, answer["reason"]) == (500, "InternalError")
    assert answer["message"].startswith(
        "Internal error occurred: StorageError: corrupt object, Code: 7, Key: /configmaps/default/broken, "
        "ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision="
    )
    assert damaged.call("GET", f"{path('default')}/good")[0] == 200
    table = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    for where in (
        path("default"),
        f"{path('default')}?limit=5",
        f"{path('default')}?labelSelector=a",
        "/api/v1/configmaps",
    ):
        for headers in (None, table):
            status, answer = damaged.call("GET", where, headers=headers)
            assert (status, answer["reason"]) == (500, "StorageReadError"), answer
            assert answer["message"].startswith(
                "failed to read one or more configmaps from the storage: StorageError: "
            )
            assert [cause["field"] for cause in answer["details"]["causes"]] == [
                "/registry/configmaps/default/broken"
            ]
    assert damaged.call("GET", path("kube-system"))[0] == 200
    body = {"metadata": {"name": "broken"}, "data": {}}
    assert damaged.call("POST", path("default"), body)[0] == 409
    for method in ("PUT", "DELETE"):
        status, answer = damaged.call(method, f"{path('default')}/broken", body if method == "PUT" else None)
        assert (status, "corrupt object" in answer["message"]) == (500, True)
    assert damaged.call("DELETE", path("default"))[1]["reason"] == "StorageReadError"


def test_readyz_and_metrics_tell(damaged: Server) -> None:
    status, text = damaged.call("GET", "/readyz?verbose")
    assert status == 200 and "[-]stored-objects failed: reason withheld" in text
    status, text = damaged.call("GET", "/readyz/stored-objects")
    assert status == 500 and "1 stored objects cannot be read: /registry/configmaps/default/broken: " in text
    assert "\npybernetes_storage_damaged_objects 1\n" in damaged.call("GET", "/metrics")[1]


def test_a_watch_ends_with_its_error(damaged: Server) -> None:
    for where, query in ((path("default"), {}), (path("default"), {"fieldSelector": "metadata.name=broken"})):
        with watching(damaged, where, **query) as events:
            (event,) = list(events)  # the stream ends in good order
            assert (event["type"], event["object"]["code"]) == ("ERROR", 500)
            assert "/registry/configmaps/default/broken" in json.dumps(event)


def test_deleting_it_takes_the_option_and_the_right(repaired: Server) -> None:
    def delete(name: str, **options: Any) -> tuple[int, Any]:
        body = {"kind": "DeleteOptions", "apiVersion": "v1", IGNORE: True, **options}
        return repaired.call("DELETE", f"{path('default')}/{name}", body)

    status, answer = delete("broken", gracePeriodSeconds=1)
    assert (
        status == 422
        and f"{IGNORE}: Invalid value: true: cannot be set together with .gracePeriodSeconds"
        in answer["message"]
    )
    status, answer = repaired.call(
        "DELETE", path("default"), {"kind": "DeleteOptions", "apiVersion": "v1", IGNORE: True}
    )
    assert status == 422 and "is not allowed with DELETECOLLECTION" in answer["message"]
    assert delete("nobody")[0] == 404
    status, answer = delete("good")
    assert (status, answer["reason"]) == (409, "Conflict")
    assert "unsafe deletion is not allowed because the object is decodable from storage" in answer["message"]

    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["delete"]}
    role = {"metadata": {"name": "deleter"}, "rules": [rule]}
    binding = {"metadata": {"name": "deleter"}, "subjects": [{"kind": "User", "name": "ann", "apiGroup": "rbac.authorization.k8s.io"}],
               "roleRef": {"kind": "ClusterRole", "name": "deleter", "apiGroup": "rbac.authorization.k8s.io"}}  # fmt: skip
    rbac = "/apis/rbac.authorization.k8s.io/v1/cluster"
    assert repaired.call("POST", f"{rbac}roles", role)[0] == 201
    assert repaired.call("POST", f"{rbac}rolebindings", binding)[0] == 201
    headers = {"Impersonate-User": "ann"}
    body = {"kind": "DeleteOptions", "apiVersion": "v1", IGNORE: True}
    status, answer = repaired.call("DELETE", f"{path('default')}/broken", body, headers=headers)
    assert (status, answer["reason"]) == (403, "Forbidden")
    assert 'not permitted to do "unsafe-delete-ignore-read-errors", reason: ' in answer["message"]

    version = repaired.call("GET", path("kube-system"))[1]["metadata"]["resourceVersion"]
    assert delete("broken", dryRun=["All"])[0] == 200
    assert repaired.call("GET", f"{path('default')}/broken")[0] == 500
    with watching(repaired, path("default"), resourceVersion=version) as events:
        status, answer = delete("broken")
        assert status == 200
        assert answer == {
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 200,
            "details": {"name": "broken", "kind": "ConfigMap"},
        }  # fmt: skip
        (event,) = list(events)
        assert (event["type"], event["object"]["reason"]) == ("ERROR", "StorageReadError")
        assert event["object"]["message"].startswith("saw a DELETED event, but object data is corrupt - ")
    names = [item["metadata"]["name"] for item in repaired.call("GET", path("default"))[1]["items"]]
    assert "good" in names and "broken" not in names
    assert "[+]stored-objects ok" in repaired.call("GET", "/readyz?verbose")[1]
    assert repaired.call("POST", path("default"), {"metadata": {"name": "broken"}})[0] == 201


def test_the_server_starts_whatever_is_damaged(tmp_path: Path) -> None:
    with running(tmp_path):
        pass
    # Every object that the server made for itself: roles, services, addresses, flow schemas, its own API services …
    damage(tmp_path / "data", "/registry/%")
    with running(tmp_path) as server:
        status, text = server.call("GET", "/readyz/stored-objects")
        assert status == 500 and "/registry/" in text
        # Roles that cannot be read grant nothing.
        assert (
            server.call("GET", path("default"), headers={"Impersonate-User": "system:kube-scheduler"})[0]
            == 403
        )
        assert server.call("GET", "/api/v1/services")[1]["reason"] == "StorageReadError"
        assert server.call("POST", "/api/v1/namespaces", {"metadata": {"name": "new"}})[0] in (201, 500)
    assert "left as it is: /registry/clusterroles/" in (tmp_path / "log").read_text()


def test_what_others_write_to_etcd_is_checked(tmp_path: Path) -> None:
    require_program("etcd")
    require_program("etcdctl")
    (tmp_path / "etcd").mkdir()
    with (
        etcd(tmp_path / "etcd") as (member,),
        running(tmp_path, f"--etcd-servers={member.address}") as server,
    ):
        for name, value in CASES.items():
            made = make(server, "default", "broken")
            with watching(
                server, path("default"), resourceVersion=made["metadata"]["resourceVersion"]
            ) as events:
                put(member.address, value)
                (event,) = list(events)
                assert (name, event["type"], event["object"]["code"]) == (name, "ERROR", 500)
            status, answer = server.call("GET", f"{path('default')}/broken")
            assert (name, status, "corrupt object" in str(answer)) == (name, 500, True)
            options = {"kind": "DeleteOptions", "apiVersion": "v1", IGNORE: True}
            assert server.call("DELETE", f"{path('default')}/broken", options)[0] == 200
        assert "[+]stored-objects ok" in server.call("GET", "/readyz?verbose")[1]
