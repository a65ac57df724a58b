"""Discovery by a file: what is taken from it, and what is refused."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from pybernetes.tools.kubeadm import discovery, discovery_file
from pybernetes.tools.kubeadm.errors import KubeadmError

CLUSTER = {"server": "https://10.0.0.1:6443", "certificate-authority-data": "Y2E="}


def config(cluster: Any = CLUSTER, user: Any = None) -> dict[str, Any]:
    return {
        "clusters": [{"name": "other", "cluster": {"server": "https://other"}}, {"name": "a", "cluster": cluster}],
        "contexts": [{"name": "c", "context": {"cluster": "a", "user": "u"}}],
        "current-context": "c",
        "users": [{"name": "u", "user": user}] if user is not None else None,
    }  # fmt: skip


def test_the_cluster_of_the_current_context_is_taken() -> None:
    made = discovery_file.single(config(user={"token": "t"}), Path("/x"))
    assert made["clusters"][0]["cluster"] == CLUSTER and made["users"][0]["user"] == {"token": "t"}
    assert discovery_file.has_credentials(made)
    assert not discovery_file.has_credentials(discovery_file.single(config(), Path("/x")))


def test_cluster_info_has_one_cluster_and_no_context() -> None:
    value = {"clusters": [{"name": "", "cluster": CLUSTER}], "contexts": None, "users": None}
    assert discovery_file.single(value, None)["clusters"][0]["cluster"] == CLUSTER


def test_files_that_are_named_are_taken_in(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_bytes(b"authority")
    (tmp_path / "token").write_bytes(b"secret\n")
    cluster = {"server": "https://a", "certificate-authority": "ca.crt"}
    made = discovery_file.single(config(cluster, {"tokenFile": str(tmp_path / "token")}), tmp_path)
    data = made["clusters"][0]["cluster"]["certificate-authority-data"]
    assert base64.b64decode(data) == b"authority" and made["users"][0]["user"] == {"token": "secret"}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({}, "at least one Cluster"),
        ({"clusters": "a"}, "at least one Cluster"),
        ({"clusters": [1, {"cluster": 2}]}, "at least one Cluster"),
        ({"clusters": [{"name": "a", "cluster": {}}]}, "failed to get cluster"),
        ({**config(), "current-context": "none"}, "failed to get cluster"),
        (config({**CLUSTER, "insecure-skip-tls-verify": True}), "does not say whom to trust"),
        (config({"server": "https://a", "certificate-authority": "/etc/shadow"}), "of another machine"),
        (config(CLUSTER, {"tokenFile": "/etc/shadow"}), "of another machine"),
    ],
)
def test_what_is_refused(value: dict[str, Any], message: str) -> None:
    with pytest.raises(KubeadmError, match=message):
        discovery_file.single(value, None)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"a: b: c", b"\xff"])
def test_what_is_no_kubeconfig(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(KubeadmError):
        discovery_file.single(discovery_file.parsed(content), tmp_path)


async def test_a_server_that_does_not_answer(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("clusters: [{name: '', cluster: {server: 'https://127.0.0.1:1'}}]\n")
    configuration = {"discovery": {"file": {"kubeConfigPath": str(path)}, "tlsBootstrapToken": "t"}}
    with pytest.raises(
        KubeadmError,
        match=r"\Acouldn't validate the identity of the API Server: Abort reading the cluster-info ConfigMap after timeout of 0ms: ",
    ):
        await discovery.bootstrap_config(configuration, 0.0)
