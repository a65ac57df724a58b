"""metrics-server in a cluster of kubeadm: its objects, its certificate, and whether kubelets can be trusted."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from pybernetes.client.refs import API_SERVICES, CONFIG_MAPS, SECRETS
from pybernetes.tools.kubeadm import certificate_files
from pybernetes.tools.kubeadm.addons import metrics_server
from pybernetes.tools.kubeadm.configuration import documents, loading
from pybernetes.tools.kubeadm.errors import KubeadmError

CLUSTER = b"apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.37.0\n"


class Written:
    """Objects that would be written."""

    def __init__(self, kubelet: str = "") -> None:
        self.kubelet, self.objects = kubelet, dict[Any, dict[str, Any]]()

    async def ensure(self, kind: Any, obj: dict[str, Any]) -> dict[str, Any]:
        self.objects[kind] = obj
        return obj

    async def create_once(self, kind: Any, obj: dict[str, Any]) -> None:
        self.objects[kind] = obj

    async def get(self, kind: Any, name: str, namespace: str = "") -> dict[str, Any] | None:
        assert (kind, name, namespace) == (CONFIG_MAPS, "kubelet-config", "kube-system")
        return {"data": {"kubelet": self.kubelet}}

    async def patch(self, kind: Any, name: str, patch: dict[str, Any]) -> None:
        raise AssertionError

    async def delete(self, kind: Any, name: str, namespace: str = "") -> None:
        raise AssertionError


@pytest.mark.parametrize(
    ("kubelet", "warned"), [("serverTLSBootstrap: true", False), ("{}", True), ("[", True)]
)
async def test_the_api_server_trusts_its_certificate(tmp_path: Path, kubelet: str, warned: bool) -> None:
    cluster = loading.init(documents.read(CLUSTER)).cluster
    authority = certificate_files.new_authority("kubernetes", "ECDSA-P256", 3600)
    certificate_files.write_pair(tmp_path, "ca", authority)
    written, said = Written(kubelet), list[str]()
    await metrics_server.install(written, cluster, tmp_path, None, said.append)
    pem = base64.b64decode(written.objects[SECRETS]["data"]["tls.crt"])
    issuer = base64.b64decode(written.objects[API_SERVICES]["spec"]["caBundle"])
    certificate = x509.load_pem_x509_certificate(pem)
    certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(issuer))
    assert certificate_files.alternative_names(certificate) == {"metrics-server.kube-system.svc"}
    assert any("serverTLSBootstrap" in line for line in said) is warned


async def test_without_the_authoritys_key_there_is_none(tmp_path: Path) -> None:
    cluster = loading.init(documents.read(CLUSTER)).cluster
    written = Written()
    with pytest.raises(KubeadmError, match=r"ca\.key are needed"):
        await metrics_server.install(written, cluster, tmp_path, None, print)
    assert written.objects == {}
