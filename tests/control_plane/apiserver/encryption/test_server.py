"""API servers that encrypt what they store, driven from outside."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.control_plane.apiserver.encryption.kms_plugin import KmsPlugin
from tests.control_plane.apiserver.encryption.test_encryption import keys, on_disk, write
from tests.control_plane.store.etcd_server import etcd
from tests.servers import Server, running
from tests.support import require_program, until

pytestmark = pytest.mark.slow
SECRETS = "/api/v1/namespaces/default/secrets"
DATA = {"x": base64.b64encode(b"geheim").decode()}
CRD = {
    "metadata": {"name": "pandas.bears.example"},
    "spec": {
        "group": "bears.example",
        "scope": "Namespaced",
        "names": {"plural": "pandas", "kind": "Panda"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
                },
            }
        ],
    },
}


def make(server: Server, path: str, name: str, **more: Any) -> None:
    """Create an object, as soon as its kind is served."""
    until(lambda: server.call("POST", path, {"metadata": {"name": name}, **more})[0] in (201, 409))


def test_a_file_with_errors_stops_the_start(tmp_path: Path) -> None:
    write(tmp_path / "encryption.yaml", (["secrets"], [{"aesgcm": {"keys": []}}]))
    command = [sys.executable, "-m", "pybernetes.cmd.main", "kube-apiserver", f"--data-dir={tmp_path / 'data'}",
               f"--cert-dir={tmp_path / 'certs'}", f"--encryption-provider-config={tmp_path / 'encryption.yaml'}"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert (
        "resources[0].providers[0].aesgcm.keys: Required value: at least one keys is required" in done.stderr
    )
    assert [path.name for path in tmp_path.iterdir()] == ["encryption.yaml"], "nothing was touched"


def test_rotation_reload_and_a_key_that_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "encryption.yaml"
    flags = [f"--encryption-provider-config={path}", "--encryption-provider-config-automatic-reload"]
    write(path, (["secrets", "pandas.bears.example"], [keys("aescbc", "a"), {"identity": {}}]))
    with running(tmp_path, *flags) as server:
        make(server, SECRETS, "a", data=DATA)
        server.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", CRD)
        make(
            server,
            "/apis/bears.example/v1/namespaces/default/pandas",
            "a",
            apiVersion="bears.example/v1",
            kind="Panda",
        )
        _, ready = server.call("GET", "/readyz?verbose")
        assert "[+]kms-providers ok" in ready
        assert "[+]poststarthook/start-encryption-provider-config-automatic-reload ok" in ready
        write(
            path,
            (["secrets"], [keys("aesgcm", "b"), keys("aescbc", "a")]),
            (["pandas.bears.example"], [keys("aescbc", "a")]),
        )
        until(lambda: 'automatic_reloads_total{apiserver_id_hash="' in server.call("GET", "/metrics")[1])
        _, secret = server.call("GET", f"{SECRETS}/a")
        status, again = server.call("PUT", f"{SECRETS}/a", secret)
        assert status == 200 and again["metadata"]["resourceVersion"] != secret["metadata"]["resourceVersion"]
        status, still = server.call("PUT", f"{SECRETS}/a", again)
        assert still["metadata"]["resourceVersion"] == again["metadata"]["resourceVersion"], "nothing to do"
    assert on_disk(tmp_path, "/registry/secrets/default/a").startswith(b"k8s:enc:aesgcm:v1:b:")
    stored = on_disk(tmp_path, "/registry/bears.example/pandas/default/a")
    assert stored.startswith(b"k8s:enc:aescbc:v1:a:")
    write(path, (["secrets"], [keys("aesgcm", "c")]), (["pandas.bears.example"], [keys("aescbc", "a")]))
    with running(tmp_path, *flags) as server:
        status, answer = server.call("GET", f"{SECRETS}/a")
        assert (status, answer["message"]) == (
            500,
            "Internal error occurred: StorageError: corrupt object, Code: 7, Key: /secrets/default/a, ResourceVersion: 0, "
            "AdditionalErrorMsg: data from the storage is not transformable revision=0: "
            "no matching key was found for the provided AES transformer",
        )
        assert server.call("PUT", f"{SECRETS}/a", {"metadata": {"name": "a"}})[0] == 500
        write(
            path, (["secrets"], [keys("aesgcm", "c", "b")]), (["pandas.bears.example"], [keys("aescbc", "a")])
        )
        until(lambda: server.call("GET", f"{SECRETS}/a")[0] == 200)
        assert server.call("GET", f"{SECRETS}/a")[1]["data"] == DATA


def test_a_plug_in_that_is_not_there_at_the_start(tmp_path: Path) -> None:
    """A new cluster needs it; one that has run before serves, says that it is not ready, and reads again once it is back."""
    path, socket = tmp_path / "encryption.yaml", tmp_path / "kms.sock"
    plugin = KmsPlugin(socket)
    kms = {"kms": {"apiVersion": "v2", "name": "kms", "endpoint": f"unix://{socket}", "timeout": "1s"}}
    write(path, (["*.*"], [kms, {"identity": {}}]))
    flags = [f"--encryption-provider-config={path}"]
    with pytest.raises(AssertionError), running(tmp_path, *flags):
        pass
    log = (tmp_path / "log").read_text()
    assert "kube-apiserver: got unexpected nil transformer" in log and "Traceback" not in log
    plugin.start()
    try:
        with running(tmp_path, *flags) as server:
            make(server, SECRETS, "a", data=DATA)
            plugin.stop()
        with running(tmp_path, *flags) as server:
            status, text = server.call("GET", "/readyz?verbose")
            assert status == 500 and "[-]kms-providers failed: reason withheld" in text
            assert server.call("GET", "/livez")[0] == 200
            status, answer = server.call("GET", f"{SECRETS}/a")
            assert status == 500 and "data from the storage is not transformable" in answer["message"]
            plugin.start()
            until(lambda: server.call("GET", "/readyz")[0] == 200)
            until(lambda: server.call("GET", f"{SECRETS}/a")[0] == 200)
            assert server.call("GET", f"{SECRETS}/a")[1]["data"] == DATA
    finally:
        plugin.stop()


@pytest.fixture(name="member", scope="module")
def one_member(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Yield an etcd."""
    require_program("etcd")
    with etcd(tmp_path_factory.mktemp("etcd")) as (member,):
        yield member


def test_two_servers_on_one_etcd(tmp_path: Path, member: Any) -> None:
    path = tmp_path / "encryption.yaml"
    write(path, (["secrets"], [keys("aesgcm", "a")]))
    flags = [f"--encryption-provider-config={path}", f"--etcd-servers={member.address}"]
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    with running(tmp_path / "one", *flags) as one, running(tmp_path / "two", *flags) as two:
        make(one, SECRETS, "shared", data=DATA)
        assert two.call("GET", f"{SECRETS}/shared")[1]["data"] == DATA
        status, _ = two.call("PATCH", f"{SECRETS}/shared", {"metadata": {"labels": {"a": "b"}}},
                             headers={"Content-Type": "application/merge-patch+json"})  # fmt: skip
        assert status == 200 and one.call("GET", f"{SECRETS}/shared")[1]["metadata"]["labels"] == {"a": "b"}
    command = [
        "etcdctl",
        f"--endpoints={member.address}",
        "get",
        "/registry/secrets/default/shared",
        "-w",
        "json",
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, env={"ETCDCTL_API": "3", "PATH": "/usr/bin:/bin"}
    )
    (pair,) = json.loads(done.stdout)["kvs"]
    assert base64.b64decode(pair["value"]).startswith(b"k8s:enc:aesgcm:v1:a:")
