"""A real cluster of two machines: init, a pod network, join, what is refused, reset."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pybernetes.tools.kubeadm.kubelet_service import pyb
from pybernetes.tools.local.control_planes import image_store
from tests.support import image_stores, require_program, require_root, until
from tests.tools.kubeadm.machines import Site

pytestmark = pytest.mark.slow
NETWORK = Path(__file__).resolve().parents[3] / "examples" / "kubeadm" / "pod-network.yaml"
INIT = """\
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
nodeRegistration: {{kubeletExtraArgs: [{{name: cgroup-root, value: /{group}/cp}}]}}
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
networking: {{podSubnet: 10.244.0.0/16}}
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
evictionHard: {{memory.available: 50Mi}}  # the disk of a machine that tests may be nearly full
imageGCHighThresholdPercent: 100
serverTLSBootstrap: true
"""
JOIN = """\
apiVersion: kubeadm.k8s.io/v1beta4
kind: JoinConfiguration
discovery:
  bootstrapToken: {{token: {token}, apiServerEndpoint: "{server}", caCertHashes: ["{hash}"]}}
nodeRegistration: {{kubeletExtraArgs: [{{name: cgroup-root, value: /{group}/w}}]}}
timeouts: {{discovery: 1s}}
"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    require_root()
    for program in ("containerd", "runc", "etcd", "etcdctl", "catatonit", "iptables", "conntrack", "nft", "haproxy",
                    "keepalived", "curl"):  # fmt: skip
        require_program(program)
    (tmp_path / "site").mkdir()
    site = Site(tmp_path / "site", ("cp", "w"), image_store.ensure(image_stores()))
    try:
        site.create()
        yield site
    finally:
        site.delete()


def kubectl(site: Site, words: str) -> str:
    program = " ".join(pyb("kubectl", "--kubeconfig=/etc/kubernetes/admin.conf"))
    return site.sh("cp", f"{program} {words}")


def files(site: Site) -> str:
    return site.sh("w", "find /etc/kubernetes /var/lib/kubelet")


def test_a_cluster_of_two_machines(site: Site) -> None:
    config = site.folder / "config.yaml"
    config.write_text(INIT.format(group=site.group))
    done = site.kubeadm("cp", "init", "--config", str(config))
    assert done.returncode == 0, done.stdout + done.stderr
    match = re.search(r"kubeadm join (\S+) --token (\S+) .*?(sha256:[0-9a-f]{64})", done.stdout, re.DOTALL)
    assert match is not None
    server, token, hash_ = match.groups()

    # Nothing is done twice, and nothing of the first is lost.
    again = site.kubeadm("cp", "init", "--config", str(config))
    assert again.returncode == 1 and "[ERROR Port-6443]: Port 6443 is in use" in again.stderr

    # Nobody joins without the right token and the right authority, and their machines are as before.
    signed = "get configmap cluster-info -n kube-public -o yaml"
    until(lambda: f"jws-kubeconfig-{token[:6]}" in kubectl(site, signed))  # by a controller, in its own time
    before = files(site)
    for wrong, message in (
        (
            {"token": "aaaaaa." + token[7:]},
            'could not find a JWS signature in the cluster-info ConfigMap for token ID "aaaaaa"',
        ),
        ({"token": token[:7] + "0" * 16}, "failed to verify JWS signature of received cluster info object"),
        ({"hash": "sha256:" + "0" * 64}, "are pinned"),
    ):
        config.write_text(
            JOIN.format(**{"token": token, "server": server, "hash": hash_, "group": site.group, **wrong})
        )
        refused = site.kubeadm("w", "join", "--config", str(config))
        assert refused.returncode == 1 and message in refused.stderr, refused.stderr
    assert files(site) == before

    config.write_text(JOIN.format(token=token, server=server, hash=hash_, group=site.group))
    joined = site.kubeadm("w", "join", "--config", str(config))
    assert joined.returncode == 0, joined.stdout + joined.stderr
    kubectl(site, f"apply -f {NETWORK}")
    until(lambda: kubectl(site, "get nodes").count(" Ready ") == 2, 60)
    serving = "get csr --field-selector=spec.signerName=kubernetes.io/kubelet-serving -o name"
    until(lambda: len(kubectl(site, serving).split()) >= 2, 60)
    kubectl(site, f"certificate approve {' '.join(kubectl(site, serving).split())}")
    assert "control-plane" in kubectl(site, "get node cp")
    deployed = "get deployment coredns -n kube-system -o jsonpath={.status.readyReplicas}"
    until(lambda: kubectl(site, deployed) == "2", 60)
    assert "kube-apiserver" in kubectl(site, "exec -n kube-system kube-apiserver-cp -- kube-apiserver --help")
    assert "serving" in kubectl(site, "logs -n kube-system kube-apiserver-cp")

    # metrics-server believes kubelets with certificates of the cluster's authority, and the API server believes it.
    config.write_text(INIT.format(group=site.group))
    added = site.kubeadm("cp", "init", "phase", "addon", "metrics-server", "--config", str(config))
    assert added.returncode == 0 and "WARNING" not in added.stdout, added.stdout + added.stderr
    until(lambda: "True" in kubectl(site, "get apiservice v1beta1.metrics.k8s.io"), 60)
    until(lambda: {"cp", "w"} <= set(kubectl(site, "top nodes --no-headers || true").split()), 60)

    reset = site.kubeadm("w", "reset", "--force")
    assert reset.returncode == 0, reset.stderr
    assert site.sh("w", "find /etc/kubernetes /var/lib/kubelet -type f") == ""
    assert "kubelet" not in site.sh("w", "ctr -n k8s.io tasks ls -q")
