"""What the start-up command lines name: certificates, configurations, and the objects by which a node may join."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml

from pybernetes.lib.tls import tls
from pybernetes.tools.local import kubeconfig
from tests.node.kubelet.real_node import ADDRESS, IMAGE

SERVER, NODE, TOKEN = f"https://{ADDRESS}:6444", "foo-node", "abcdef.0123456789abcdef"


def make_certificates(etc: Path) -> None:
    """Write what kubeadm would: authorities, certificates, keys and kubeconfigs."""
    pki = etc / "pki"
    (pki / "etcd").mkdir(parents=True)
    pairs = {}
    for stem, folder in (("ca", pki), ("front-proxy-ca", pki), ("etcd/ca", pki)):
        certificate, key = tls.ensure_authority(folder, stem, stem)
        pairs[stem] = tls.Pair(certificate.read_bytes(), key.read_bytes())

    def issue(path: str, authority: str, name: str, *groups: str, names: tuple[str, ...] = ()) -> tls.Pair:
        own = tls.issue(
            pairs[authority], name, organizations=groups, names=names, server=bool(names), client=True
        )
        (pki / f"{path}.crt").write_bytes(own.certificate)
        (pki / f"{path}.key").write_bytes(own.key)
        return own

    local = ("127.0.0.1", "localhost", ADDRESS, "10.96.0.1", "kubernetes.default.svc")
    issue("apiserver", "ca", "kube-apiserver", names=local)
    issue("apiserver-kubelet-client", "ca", "apiserver-kubelet-client", "system:masters")
    issue("apiserver-etcd-client", "etcd/ca", "apiserver-etcd-client")
    issue("etcd/server", "etcd/ca", "etcd", names=local)
    issue("front-proxy-client", "front-proxy-ca", "front-proxy-client")
    subprocess.run(["openssl", "genrsa", "-out", pki / "sa.key", "2048"], check=True, capture_output=True)
    subprocess.run(
        ["openssl", "rsa", "-in", pki / "sa.key", "-pubout", "-out", pki / "sa.pub"], check=True, capture_output=True
    )  # fmt: skip
    for stem, user, groups in (
        ("controller-manager", "system:kube-controller-manager", ()),
        ("scheduler", "system:kube-scheduler", ()),
        ("kube-proxy", "system:kube-proxy", ()),
        ("admin", "kubernetes-admin", ("system:masters",)),
    ):
        own = issue(stem, "ca", user, *groups)
        entries = kubeconfig.entries("foo", SERVER, pairs["ca"].certificate, own.certificate, own.key)
        kubeconfig.write(etc / f"{stem}.conf", entries)
    joining = kubeconfig.entries("foo", SERVER, pairs["ca"].certificate, b"", b"")
    joining["users"][0]["user"] = {"token": TOKEN}
    kubeconfig.write(etc / "bootstrap-kubelet.conf", joining)


def make_configurations(etc: Path, audit_port: int) -> None:
    """Write the files that the command lines name."""

    def write(path: str, value: Any) -> None:
        (etc / path).write_text(yaml.safe_dump(value))

    write(
        "audit-policy.yaml",
        {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [{"level": "Metadata"}]},
    )
    webhook = {
        "name": "a",
        "cluster": {
            "server": f"https://127.0.0.1:{audit_port}/",
            "certificate-authority": f"{etc}/pki/ca.crt",
        },
    }
    context = {"name": "a", "context": {"cluster": "a", "user": ""}}
    write("audit-webhook.config", {"apiVersion": "v1", "kind": "Config", "clusters": [webhook], "contexts": [context], "current-context": "a"})  # fmt: skip
    (etc / "ais").mkdir()
    shutil.copy(etc / "audit-webhook.config", etc / "ais" / "authentication-webhook.yaml")
    key = {"name": "key1", "secret": base64.b64encode(os.urandom(32)).decode()}
    resources = [{"resources": ["secrets"], "providers": [{"aescbc": {"keys": [key]}}, {"identity": {}}]}]
    write("pki/encryption_config.yaml", {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "EncryptionConfiguration", "resources": resources})  # fmt: skip
    write("config.yaml", {
        "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", "failSwapOn": False,
        "rotateCertificates": True, "authentication": {"x509": {"clientCAFile": f"{etc}/pki/ca.crt"}},
        "evictionHard": {"memory.available": "50Mi"}, "imageGCHighThresholdPercent": 100,
    })  # fmt: skip
    write("proxy.conf", {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1", "kind": "KubeProxyConfiguration", "mode": "iptables",
        "clusterCIDR": "10.244.0.0/16", "clientConnection": {"kubeconfig": f"{etc}/kube-proxy.conf"},
    })  # fmt: skip


def join_objects() -> list[dict[str, Any]]:
    """Return the token that the kubelet joins with, and what it may do then, as kubeadm makes them."""
    identity, _, secret = TOKEN.partition(".")
    group = "system:bootstrappers:kubeadm:default-node-token"
    data = {
        "token-id": identity,
        "token-secret": secret,
        "usage-bootstrap-authentication": "true",
        "auth-extra-groups": group,
    }
    objects: list[dict[str, Any]] = [{
        "apiVersion": "v1", "kind": "Secret", "type": "bootstrap.kubernetes.io/token",
        "metadata": {"name": f"bootstrap-token-{identity}", "namespace": "kube-system"}, "stringData": data,
    }]  # fmt: skip
    requests = "system:certificates.k8s.io:certificatesigningrequests"
    for name, role, subject in (
        ("bootstrap", "system:node-bootstrapper", group),
        ("approve", f"{requests}:nodeclient", group),
        ("renew", f"{requests}:selfnodeclient", "system:nodes"),
    ):
        objects.append({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": subject}],
        })  # fmt: skip
    return objects


def web() -> list[dict[str, Any]]:
    """Return a pod that serves a page, and a service for it."""
    command = ["sh", "-c", "mkdir /www && echo hello > /www/index.html && exec httpd -f -p 80 -h /www"]
    container = {"name": "web", "image": IMAGE, "imagePullPolicy": "Never", "command": command,
                 "resources": {"requests": {"cpu": "10m"}}}  # fmt: skip
    meta = {"name": "web", "labels": {"app": "web"}}
    spec = {"containers": [container], "terminationGracePeriodSeconds": 1}
    service = {"clusterIP": "10.96.0.80", "selector": {"app": "web"}, "ports": [{"port": 80}]}
    return [
        {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec},
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": service},
    ]
