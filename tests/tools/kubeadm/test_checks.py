"""Checks before anything is changed: what they complain of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pybernetes.tools.kubeadm import certificate_files
from pybernetes.tools.kubeadm.checks import cluster, control_plane_checks, join_checks, services
from pybernetes.tools.kubeadm.checks.check import Findings
from pybernetes.tools.kubeadm.checks.proxies import HTTPProxy, HTTPProxyCIDR
from pybernetes.tools.kubeadm.checks.versions import (
    ExternalEtcdVersion,
    KubeletVersion,
    KubernetesVersion,
    etcd_problem,
)
from pybernetes.tools.kubeadm.configuration import documents, loading
from pybernetes.tools.kubeadm.upgrade import plan
from tests.control_plane.store.etcd_server import etcd
from tests.support import require_program

FILES = {"caFile": "/x/ca.crt", "certFile": "/x/c.crt", "keyFile": "/x/c.key"}


def names(text: str, **options: bool) -> list[str]:
    given = documents.read(text.encode())
    return [check.name for check in control_plane_checks(loading.init(given), **options)]


def test_which_checks_there_are() -> None:
    header = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n"
    local = names(f"{header}networking: {{podSubnet: 10.244.0.0/16}}\n")
    for name in (
        "NumCPU", "Mem", "KubernetesVersion", "Firewalld", "Port-6443", "Port-10259", "Port-10257", "HTTPProxy",
        "FileAvailable--etc-kubernetes-manifests-kube-apiserver.yaml", "HTTPProxyCIDR", "CRI", "ContainerRuntimeVersion",
        "Swap", "FileExisting-losetup", "FileExisting-mount", "FileExisting-cp", "SystemVerification", "Hostname",
        "KubeletVersion", "Service-kubelet", "Port-10250", "FileContent--proc-sys-net-ipv4-ip_forward", "Port-2379", "Port-2380",
        "DirAvailable--var-lib-etcd",
    ):  # fmt: skip
        assert name in local, name
    listed = ", ".join(f"{name}: {path}" for name, path in FILES.items())
    external = f"{header}etcd: {{external: {{endpoints: ['https://1.2.3.4:2379'], {listed}}}}}\n"
    assert "ExternalEtcdVersion" in names(external) and "Port-2379" not in names(external)
    assert names(external).count("ExternalEtcdClientCertificates") == 3
    assert "ExternalEtcdClientCertificates" not in names(external, secondary=True, downloads=True)


def test_checks_of_those_who_join() -> None:
    bootstrap = {
        "token": "abcdef.0123456789abcdef", "apiServerEndpoint": "10.0.0.1:6443", "unsafeSkipCAVerification": True,
    }  # fmt: skip
    given = loading.join({"discovery": {"bootstrapToken": bootstrap}})
    listed = [check.name for check in join_checks(given)]
    assert {"HTTPProxy", "FileContent--proc-sys-net-ipv4-ip_forward", "KubeletVersion"} <= set(listed)
    assert "FileAvailable--etc-kubernetes-pki-ca.crt" in listed
    # A worker may have static pods before it joins.
    assert not [name for name in listed if "manifests" in name]


@pytest.mark.parametrize(("systemd", "known", "enabled", "warned"), [
    (True, True, False, True), (True, True, True, False), (True, False, False, False), (False, True, False, False),
])  # fmt: skip
async def test_a_kubelet_that_does_not_come_back(
    monkeypatch: pytest.MonkeyPatch, systemd: bool, known: bool, enabled: bool, warned: bool
) -> None:
    answers = {"cat": known, "is-enabled": enabled}
    monkeypatch.setattr(services, "uses_systemd", lambda: systemd)
    monkeypatch.setattr(services, "_systemctl", lambda verb, *_: answers[verb])
    assert bool((await services.KubeletService().check()).warnings) is warned


async def test_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    monkeypatch.setenv("NO_PROXY", "10.96.0.0/12")
    assert (await HTTPProxy("10.96.0.1").check()) == Findings()
    findings = await HTTPProxy("10.0.0.1").check()
    assert findings.warnings[0].startswith('Connection to "https://10.0.0.1" uses proxy "http://proxy:3128".')
    assert (await HTTPProxyCIDR("10.96.0.0/12").check()) == Findings()
    findings = await HTTPProxyCIDR("10.244.0.0/16").check()
    assert findings.warnings[0].startswith('connection to "10.244.0.0/16" uses proxy "http://proxy:3128".')
    assert (await HTTPProxyCIDR("nonsense").check()).errors


async def test_versions() -> None:
    assert await KubeletVersion("v1.37.3").check() == Findings()
    assert "not a supported version skew" in (await KubeletVersion("v1.36.1").check()).errors[0]
    assert "lower than kubeadm can support" in (await KubeletVersion("", "v1.33.0").check()).errors[0]
    assert "consider to upgrade kubeadm" in (await KubernetesVersion("v1.38.0").check()).warnings[0]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (b'{"etcdserver":"3.5.16","etcdcluster":"3.5.0"}', ""),
        (b'{"etcdserver":"3.5.2"}', "can corrupt its data: use 3.5.3 or later. Current version: 3.5.2"),
        (b'{"etcdserver":"3.4.23"}', ""),
        (b'{"etcdserver":"3.3.27"}', "only supports external etcd version >= 3.4.0. Current version: 3.3.27"),
        (b"<html>", "couldn't parse external etcd version"),
        (b"[]", "couldn't parse external etcd version"),
        (b'{"etcdserver":{}}', "couldn't parse external etcd version"),
    ],
)
def test_what_members_answer(answer: bytes, problem: str) -> None:
    assert problem in etcd_problem(answer) and bool(problem) == bool(etcd_problem(answer))


async def test_members_that_do_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pybernetes.tools.kubeadm.checks.versions._ETCD_PAUSE", 0.0)
    external = {"endpoints": ["https://127.0.0.1:1"]}
    findings = await ExternalEtcdVersion(external).check()
    assert findings.errors[0].startswith('Get "https://127.0.0.1:1/version": ')
    missing = {**external, "caFile": str(tmp_path / "ca.crt")}
    assert "couldn't load external etcd's" in (await ExternalEtcdVersion(missing).check()).errors[0]


async def test_manifests_that_are_missing(tmp_path: Path) -> None:
    for component in ("kube-apiserver", "kube-scheduler"):
        (tmp_path / f"{component}.yaml").write_text("")
    findings = await cluster.StaticPodManifest(tmp_path).check()
    assert findings.errors == [f"manifest files not found: [{tmp_path}/kube-controller-manager.yaml]"]


def test_nodes_that_are_not_ready() -> None:
    def node(name: str, status: str) -> dict[str, Any]:
        return {"metadata": {"name": name}, "status": {"conditions": [{"type": "Ready", "status": status}]}}

    nodes: list[dict[str, Any]] = [
        node("a", "True"),
        node("b", "False"),
        node("c", "Unknown"),
        {"metadata": {"name": "d"}},
    ]
    assert cluster.not_ready(nodes) == ["b", "c"]


def versions(cluster: str, **changed: Any) -> plan.Versions:
    servers = {"kube-apiserver": {"b": cluster, "a": cluster}}
    given = {
        "dns": "v1.12.0",
        "kubelets": {"cp": cluster},
        "control_planes": servers,
        "etcd": {"cp": "3.5.9-0"},
    }
    return plan.Versions(cluster, **{**given, **changed})


def test_plans() -> None:
    made = plan.plan(versions("v1.36.2"), "v1.37.0", "stable version", "3.5.16-0")
    components = made["availableUpgrades"][0]["components"]
    assert [(entry["name"], entry.get("nodeName", "")) for entry in components] == [
        ("kubelet", "cp"), ("kube-apiserver", "a"), ("kube-apiserver", "b"), ("kube-proxy", ""), ("CoreDNS", ""),
        ("kubeadm", ""), ("etcd", "cp"),
    ]  # fmt: skip
    shown = plan.text(made)
    assert "\tkubeadm upgrade apply v1.37.0\n" in shown and "kubelet     cp        v1.36.2   v1.37.0" in shown
    assert "CoreDNS                    v1.12.0   v1.14.6" in shown
    assert "Note:" not in shown and "\nkubeadm " not in shown
    newer = plan.text(plan.plan(versions("v1.37.0", kubelets={}), "v1.39.0-rc.1", "x", ""))
    assert "Before you can perform this upgrade, you have to update kubeadm to v1.39.0-rc.1." in newer
    assert "apply v1.39.0-rc.1 --allow-release-candidate-upgrades\n" in newer and "etcd" not in newer
    none = plan.plan(versions("v1.37.0"), "v1.37.0", "x", "")
    assert none["availableUpgrades"] == [] and "up-to-date" in plan.text(none)
    old = plan.plan(versions("v1.37.0"), "v1.37.0-rc.1", "x", "")
    assert old["availableUpgrades"] == []


def test_what_kind_of_version_is_upgraded_to() -> None:
    assert plan.description("v1.36.2", "v1.37.0", named=False) == "stable version"
    assert plan.description("v1.36.2", "v1.36.4", named=False) == "version in the v1.36 series"
    assert plan.description("v1.36.2", "v1.37.0", named=True) == "version in the v1.36 series"


async def test_a_real_member_behind_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_program("etcd")
    monkeypatch.setattr("pybernetes.tools.kubeadm.checks.versions._ETCD_PAUSE", 0.0)
    files = {
        name: tmp_path / f"m.{suffix}" for name, suffix in (("ca", "ca"), ("cert", "crt"), ("key", "key"))
    }
    authority = certificate_files.new_authority("etcd-ca", "ECDSA-P256", 3600.0)
    pair = certificate_files.issue(
        authority, "m", algorithm="ECDSA-P256", seconds=3600.0, names=["127.0.0.1"], server=True, client=True
    )
    for path, content in zip(
        files.values(), (authority.certificate, pair.certificate, pair.key), strict=True
    ):
        path.write_bytes(content)
    with etcd(tmp_path, tls=files) as (member,):
        external = {
            "endpoints": [f"https://127.0.0.1:{member.client_port}"], "caFile": str(files["ca"]),
            "certFile": str(files["cert"]), "keyFile": str(files["key"]),
        }  # fmt: skip
        assert await ExternalEtcdVersion(external).check() == Findings()
        # Without a certificate, or where another authority is trusted, nobody answers.
        for less in ({**external, "certFile": "", "keyFile": ""}, {**external, "caFile": ""}):
            assert (await ExternalEtcdVersion(less).check()).errors
