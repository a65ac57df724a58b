"""The start-up command lines of the notes on Kubernetes, unchanged but for paths and addresses: a pod is served.

etcd, the control plane, a kubelet with a real containerd and kube-proxy are processes of their own in a network namespace;
the kubelet joins with a bootstrap token. Then the components join that the notes do not start, and a real Prometheus scrapes
all of them.
"""

from __future__ import annotations

import json
import os
import shutil
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from pybernetes.node.containerd.config import ContainerdPaths
from tests.cmd.start_up_files import (
    NODE,
    join_objects,
    make_certificates,
    make_configurations,
    web,
)
from tests.node.kubelet.real_node import ADDRESS, Node, network_namespace
from tests.support import require_program, require_root, until
from tests.tools.slo.scraping import scraping

pytestmark = pytest.mark.slow
SUITES = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"


def apiserver(etc: Path) -> list[str]:
    pki = etc / "pki"
    return [
        "kube-apiserver", f"--advertise-address={ADDRESS}", "--allow-privileged=true",
        f"--audit-policy-file={etc}/audit-policy.yaml", "--audit-webhook-batch-buffer-size=500",
        "--audit-webhook-batch-max-size=40", "--audit-webhook-batch-throttle-burst=400",
        "--audit-webhook-batch-throttle-qps=300", f"--audit-webhook-config-file={etc}/audit-webhook.config",
        "--audit-webhook-mode=batch", "--audit-webhook-truncate-enabled=true",
        f"--authentication-token-webhook-config-file={etc}/ais/authentication-webhook.yaml",
        "--authorization-mode=Node,RBAC", f"--client-ca-file={pki}/ca.crt",
        "--enable-admission-plugins=NodeRestriction,PodTolerationRestriction", "--enable-bootstrap-token-auth=true",
        f"--encryption-provider-config={pki}/encryption_config.yaml", f"--etcd-cafile={pki}/etcd/ca.crt",
        f"--etcd-certfile={pki}/apiserver-etcd-client.crt", f"--etcd-keyfile={pki}/apiserver-etcd-client.key",
        "--etcd-servers=https://127.0.0.1:2379", "--feature-gates=ServiceAccountIssuerDiscovery=true,IPv6DualStack=false",
        f"--kubelet-certificate-authority={pki}/ca.crt", f"--kubelet-client-certificate={pki}/apiserver-kubelet-client.crt",
        f"--kubelet-client-key={pki}/apiserver-kubelet-client.key",
        "--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname", "--profiling=false",
        f"--proxy-client-cert-file={pki}/front-proxy-client.crt", f"--proxy-client-key-file={pki}/front-proxy-client.key",
        "--requestheader-allowed-names=front-proxy-client", f"--requestheader-client-ca-file={pki}/front-proxy-ca.crt",
        "--requestheader-extra-headers-prefix=X-Extra-", "--requestheader-group-headers=X-Group",
        "--requestheader-username-headers=X-User", "--secure-port=6444",
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local", f"--service-account-key-file={pki}/sa.pub",
        "--service-account-max-token-expiration=48h", f"--service-account-signing-key-file={pki}/sa.key",
        "--service-cluster-ip-range=10.96.0.0/16", f"--tls-cert-file={pki}/apiserver.crt", f"--tls-cipher-suites={SUITES}",
        f"--tls-private-key-file={pki}/apiserver.key",
    ]  # fmt: skip


def controller_manager(etc: Path) -> list[str]:
    pki, conf = etc / "pki", etc / "controller-manager.conf"
    return [
        "kube-controller-manager", "--allocate-node-cidrs=true", f"--authentication-kubeconfig={conf}",
        f"--authorization-kubeconfig={conf}", "--bind-address=127.0.0.1", f"--client-ca-file={pki}/ca.crt",
        "--cluster-cidr=10.244.0.0/16", "--cluster-name=foo-cluster", f"--cluster-signing-cert-file={pki}/ca.crt",
        f"--cluster-signing-key-file={pki}/ca.key", "--controllers=*,bootstrapsigner,tokencleaner",
        "--feature-gates=IPv6DualStack=false", f"--kubeconfig={conf}", "--leader-elect=true", "--node-cidr-mask-size=23",
        "--port=0", "--profiling=false", f"--requestheader-client-ca-file={pki}/front-proxy-ca.crt",
        f"--root-ca-file={pki}/ca.crt", f"--service-account-private-key-file={pki}/sa.key",
        "--service-cluster-ip-range=10.96.0.0/16", "--terminated-pod-gc-threshold=1000",
        "--use-service-account-credentials=true",
    ]  # fmt: skip


def scheduler(etc: Path) -> list[str]:
    conf = etc / "scheduler.conf"
    return [
        "kube-scheduler", f"--authentication-kubeconfig={conf}", f"--authorization-kubeconfig={conf}",
        "--bind-address=127.0.0.1", "--feature-gates=IPv6DualStack=false", f"--kubeconfig={conf}", "--leader-elect=true",
        "--port=0", "--profiling=false",
    ]  # fmt: skip


def kubelet(etc: Path, node: Node) -> list[str]:
    # Behind the documents' own flags come those that make room for others on the machine.
    return [
        "kubelet", f"--bootstrap-kubeconfig={etc}/bootstrap-kubelet.conf", f"--kubeconfig={etc}/kubelet.conf",
        f"--config={etc}/config.yaml", "--authentication-token-webhook=true", "--authorization-mode=Webhook",
        "--container-runtime=remote", f"--container-runtime-endpoint=unix://{node.places.socket}", "--max-pods=250",
        f"--node-ip={ADDRESS}", "--rotate-server-certificates=true", "--seccomp-default=true", "--cgroup-driver=systemd",
        "--runtime-cgroups=/system.slice/containerd.service",
        f"--hostname-override={NODE}", f"--root-dir={node.directory / 'kubelet'}", f"--cgroup-root={node.cgroup_root}",
        f"--cni-conf-dir={node.places.cni_configuration}",
    ]  # fmt: skip


class Audited(BaseHTTPRequestHandler):
    """Takes audit events."""

    seen: list[int] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.seen.append(len(json.loads(body).get("items", ())))  # none in a TokenReview
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


@contextmanager
def process(directory: Path, words: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program for as long as the block runs; its output is in a file named after it."""
    command = words if words[0] == "etcd" else [sys.executable, "-m", "pybernetes.cmd.main", *words]
    with (directory / f"{words[0]}.log").open("ab") as log:
        running = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        yield running
        assert running.poll() is None, (directory / f"{words[0]}.log").read_text()[-2000:]
    finally:
        running.terminate()
        running.wait(60)


def remove_slices(root: str) -> None:
    """Remove what is left of a node's control groups, which have systemd's names."""
    top = f"{root.strip('/').partition('-')[0]}.slice"
    for hierarchy in (Path("/sys/fs/cgroup"), *Path("/sys/fs/cgroup").iterdir()):
        for folder, _, _ in os.walk(hierarchy / top, topdown=False):
            with suppress(OSError):
                os.rmdir(folder)


def others(etc: Path) -> list[list[str]]:
    """Return the command lines of the components that the notes do not start."""
    admin, local = f"--kubeconfig={etc}/admin.conf", "--bind-address=127.0.0.1"
    asked = f"--authentication-kubeconfig={etc}/admin.conf"
    (etc / "cloud.yaml").write_text('address: "127.0.0.1:8086"')
    (etc / "policy.yaml").write_text(
        "apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolicy\nprofiles: []\n"
    )
    return [
        ["cloud-controller-manager", admin, asked, local, "--cloud-provider=fake", "--secure-port=10258",
         "--cluster-cidr=10.244.0.0/16"],
        ["descheduler", admin, asked, local, "--secure-port=10261", f"--policy-config-file={etc}/policy.yaml",
         "--descheduling-interval=1h"],
        ["cluster-autoscaler", admin, "--cloud-provider=externalgrpc", f"--cloud-config={etc}/cloud.yaml",
         "--address=127.0.0.1:8085"],
        ["metrics-server", admin, asked, local, "--secure-port=10262", f"--kubelet-certificate-authority={etc}/pki/ca.crt",
         "--kubelet-preferred-address-types=InternalIP"],
        ["kube-dns", admin, "--dns-bind-address=127.0.0.1", "--dns-port=5353"],
    ]  # fmt: skip


TARGETS = {
    "kube-controller-manager": ("https://127.0.0.1:10257", "/metrics", "/metrics/slis"),
    "kube-scheduler": ("https://127.0.0.1:10259", "/metrics", "/metrics/slis", "/metrics/resources"),
    "kube-proxy": ("http://127.0.0.1:10249", "/metrics", "/metrics/slis"),
    "cloud-controller-manager": ("https://127.0.0.1:10258", "/metrics", "/metrics/slis"),
    "descheduler": ("https://127.0.0.1:10261", "/metrics", "/metrics/slis"),
    "metrics-server": ("https://127.0.0.1:10262", "/metrics"),
    "cluster-autoscaler": ("http://127.0.0.1:8085", "/metrics"),
    "kube-dns": ("http://127.0.0.1:9153", "/metrics"),
}
# What each of them tells, so that a page that is empty is seen.
TOLD = (
    'apiserver_admission_controller_admission_duration_seconds_count{name="NodeRestriction"}',
    'apiserver_storage_events_received_total{resource="pods"}',
    "serviceaccount_valid_tokens_total",
    "scheduler_plugin_evaluation_total",
    'scheduler_framework_extension_point_duration_seconds_count{extension_point="Bind",status="Success"}',
    'kube_pod_resource_request{job="kube-scheduler/metrics/resources"}',
    'workqueue_adds_total{job="kube-controller-manager/metrics"}',
    'storage_operation_duration_seconds_count{operation_name="volume_mount",status="success"}',
    'volume_operation_total_seconds_count{operation_name="overall_volume_mount"}',
    'kubernetes_feature_enabled{job="kubelet/foo-node/metrics",name="KubeletTracing"}',
    'kubernetes_feature_enabled{job="kube-proxy/metrics",name="NFTablesProxyMode"}',
    'container_cpu_usage_seconds_total{pod="web"}',
    'pod_memory_working_set_bytes{pod="web"}',
    'process_cpu_seconds_total{job="kubelet/foo-node/metrics/probes"}',
    'kubeproxy_sync_proxy_rules_duration_seconds_count{job="kube-proxy/metrics"}',
    'process_cpu_seconds_total{job="cloud-controller-manager/metrics"}',
    'descheduler_build_info',
    'process_cpu_seconds_total{job="cluster-autoscaler/metrics"}',
    'metrics_server_manager_tick_duration_seconds_count',
    'process_cpu_seconds_total{job="kube-dns/metrics"}',
)  # fmt: skip
MONITORING: list[dict[str, Any]] = [
    {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "prometheus", "namespace": "default"}},
    {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "prometheus"},
     "rules": [{"nonResourceURLs": ["/metrics", "/metrics/*"], "verbs": ["get"]},
               {"apiGroups": [""], "resources": ["nodes/metrics", "nodes/proxy"], "verbs": ["get"]}]},
    {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "prometheus"},
     "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "prometheus"},
     "subjects": [{"kind": "ServiceAccount", "name": "prometheus", "namespace": "default"}]},
]  # fmt: skip


def check_scrapes(directory: Path, etc: Path, token: str) -> None:
    """Have a real Prometheus scrape every page of every component, with what ``pyb slo`` prints."""
    (etc / "token").write_text(token)
    pages = [f"--target={name}={url}{page}" for name, (url, *paths) in TARGETS.items() for page in paths]
    command = [sys.executable, "-m", "pybernetes.cmd.main", "slo", f"--kubeconfig={etc}/admin.conf", "--prometheus-config",
               f"--ca-file={etc}/pki/ca.crt", f"--token-file={etc}/token", "--insecure-skip-tls-verify", *pages]  # fmt: skip
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    with scraping(directory, printed) as prometheus:

        def bad() -> dict[str, str]:
            return {name: why for name, why in prometheus.targets().items() if why}

        until(lambda: len(prometheus.targets()) == 7 + len(pages) and not bad(), 60, not_yet=(OSError,), story=lambda: str(bad()))  # fmt: skip
        until(
            lambda: all(prometheus.query(query) for query in TOLD),
            180,
            story=lambda: str([query for query in TOLD if not prometheus.query(query)]),
        )


def test_a_pod_is_served(tmp_path: Path) -> None:
    require_root()
    for program in (
        "etcd",
        "etcdctl",
        "kubectl",
        "containerd",
        "runc",
        "openssl",
        "curl",
        "iptables",
        "prometheus",
    ):
        require_program(program)
    etc = tmp_path / "kubernetes"
    make_certificates(etc)

    def kubectl(*words: str, text: str | None = None) -> str:
        command = ["kubectl", f"--kubeconfig={etc}/admin.conf", *words]
        done = subprocess.run(command, input=text, text=True, capture_output=True, timeout=120)
        (tmp_path / "kubectl.log").write_text(done.stderr)
        return done.stdout if done.returncode == 0 else ""

    def apply(*objects: dict[str, Any]) -> bool:
        listed = {"apiVersion": "v1", "kind": "List", "items": objects}
        return bool(kubectl("apply", "-f", "-", text=json.dumps(listed)))

    etcd = [
        "etcd", "--advertise-client-urls=https://127.0.0.1:2379", "--listen-client-urls=https://127.0.0.1:2379",
        "--listen-peer-urls=http://127.0.0.1:2380", f"--cert-file={etc}/pki/etcd/server.crt", "--client-cert-auth=true",
        f"--data-dir={tmp_path / 'etcd'}", f"--key-file={etc}/pki/etcd/server.key", "--snapshot-count=10000",
        f"--trusted-ca-file={etc}/pki/etcd/ca.crt",
    ]  # fmt: skip
    with ExitStack() as stack:
        stack.enter_context(network_namespace(f"pyb-cl-{os.getpid()}"))
        # A machine has a route to everywhere, by which a packet for a service sets out before kube-proxy's rules see it.
        subprocess.run(["ip", "route", "add", "10.96.0.0/16", "dev", "lo", "src", ADDRESS], check=True)
        audit = HTTPServer(("127.0.0.1", 0), Audited)
        secure = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        secure.load_cert_chain(etc / "pki" / "apiserver.crt", etc / "pki" / "apiserver.key")
        audit.socket = secure.wrap_socket(audit.socket, server_side=True)
        threading.Thread(target=audit.serve_forever, daemon=True).start()
        stack.callback(audit.shutdown)
        make_configurations(etc, audit.server_port)
        stack.enter_context(process(tmp_path, etcd))
        stack.enter_context(process(tmp_path, apiserver(etc)))
        stack.enter_context(process(tmp_path, controller_manager(etc)))
        stack.enter_context(process(tmp_path, scheduler(etc)))
        until(
            lambda: apply(*join_objects()),
            story=lambda: (
                (tmp_path / "kubectl.log").read_text() + (tmp_path / "kube-apiserver.log").read_text()[-2000:]
            ),
        )

        node = Node(tmp_path, None)  # type: ignore[arg-type]  # which asks its server for nothing here
        node.name, node.places = NODE, ContainerdPaths(tmp_path / "containerd", tmp_path / "run")
        node.start_containerd()
        stack.callback(shutil.rmtree, node.places.root, ignore_errors=True)
        stack.callback(remove_slices, node.cgroup_root)
        stack.callback(node.close)
        node.kubelet = stack.enter_context(process(tmp_path, kubelet(etc, node)))  # type: ignore[assignment]
        stack.enter_context(
            process(tmp_path, ["kube-proxy", f"--config={etc}/proxy.conf", f"--hostname-override={NODE}"])
        )

        def story() -> str:
            return (tmp_path / "kubectl.log").read_text() + (tmp_path / "kubelet.log").read_text()[-3000:]

        ready = ("wait", "--for=condition=Ready", "--timeout=2s")
        until(lambda: kubectl(*ready, f"node/{NODE}"), 120, story=story)
        assert apply(*web())
        until(lambda: kubectl(*ready, "pod/web"), 120, story=story)
        page = ["curl", "-s", "-m", "2", "http://10.96.0.80"]
        until(lambda: subprocess.run(page, capture_output=True, text=True).stdout == "hello\n")

        # What the flags mean: pods and their ranges, the serving certificate that somebody has to approve, secrets and audit.
        shown = json.loads(kubectl("get", "node", NODE, "-o", "json"))
        assert shown["status"]["capacity"]["pods"] == "250" and shown["spec"]["podCIDR"].endswith("/23")
        requests = json.loads(kubectl("get", "csr", "-o", "json"))["items"]
        serving = [item for item in requests if item["spec"]["signerName"] == "kubernetes.io/kubelet-serving"]
        kubectl("certificate", "approve", serving[0]["metadata"]["name"])
        until(lambda: kubectl("exec", "web", "--", "cat", "/www/index.html") == "hello\n", story=story)
        profile = kubectl("exec", "web", "--", "grep", "Seccomp:", "/proc/1/status")
        assert profile.split() == ["Seccomp:", "2"]
        read = ["etcdctl", f"--cacert={etc}/pki/etcd/ca.crt", f"--cert={etc}/pki/apiserver-etcd-client.crt",
                f"--key={etc}/pki/apiserver-etcd-client.key", "get", "--prefix", "/registry/secrets/kube-system/bootstrap"]  # fmt: skip
        stored = subprocess.run(read, capture_output=True, env={**os.environ, "ETCDCTL_API": "3"}, check=True)
        assert b"k8s:enc:aescbc:v1:key1:" in stored.stdout
        until(lambda: sum(Audited.seen) > 0)

        assert apply(*MONITORING)
        for words in others(etc):
            stack.enter_context(process(tmp_path, words))
        check_scrapes(tmp_path, etc, kubectl("create", "token", "prometheus").strip())
        assert kubectl("delete", "pod", "web")
