"""The control plane of a local cluster: with what it presents itself to kubelets."""

from __future__ import annotations

from pathlib import Path

from cryptography import x509
from cryptography.x509.oid import NameOID

from pybernetes.cmd import control_plane
from pybernetes.tools.local import command_lines
from pybernetes.tools.local.addons import addons
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import Settings


def test_kubelets_know_the_api_server_as_somebody_who_may_nothing_else(tmp_path: Path) -> None:
    """A node says itself where its kubelet is, and said: at the API server. There, this certificate was everybody's master."""
    cluster = Cluster("c", tmp_path)
    cluster.create()
    old = [cluster.certificates / f"apiserver-kubelet-client.{end}" for end in ("crt", "key")]
    for file in old:
        file.write_text("of an earlier version")
    for _ in range(2):
        control_plane.ensure_kubelet_client(cluster)
        flags = dict(flag.split("=") for flag in command_lines.apiserver(cluster, Settings()))
        certificate = x509.load_pem_x509_certificate(Path(flags["--kubelet-client-certificate"]).read_bytes())
        subject = {attribute.oid: attribute.value for attribute in certificate.subject}
        assert subject == {NameOID.COMMON_NAME: addons.KUBELET_CLIENT}
    assert not any(file.exists() for file in old)
    ((_, binding),) = addons.kubelet_access()
    assert binding["roleRef"]["name"] == "system:kubelet-api-admin"
    assert [subject["name"] for subject in binding["subjects"]] == [addons.KUBELET_CLIENT]
