"""kube-controller-manager as a program: its command line, what it serves, and that several stand by."""

from __future__ import annotations

import http.client
import json
import os
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pybernetes.cmd.kube_controller_manager import main, parser
from pybernetes.lib.tls import tls
from tests import servers
from tests.servers import TOKEN, Server
from tests.support import end, require_program, until

NOT_YET = (OSError, AssertionError, http.client.HTTPException)  # what cannot be asked yet fails so


def seeds(server: Server, *more: str) -> list[str]:
    """Return the command line that an operator of a cluster has, with its files filled in."""
    pki, config = server.directory / "certs", server.kubeconfig
    return [
        "--allocate-node-cidrs=true", f"--authentication-kubeconfig={config}", f"--authorization-kubeconfig={config}",
        "--bind-address=127.0.0.1", f"--client-ca-file={pki / 'ca.crt'}", "--cluster-cidr=10.200.0.0/16",
        "--cluster-name=foo-cluster", f"--cluster-signing-cert-file={pki / 'ca.crt'}",
        f"--cluster-signing-key-file={pki / 'ca.key'}", "--controllers=*,bootstrapsigner,tokencleaner",
        "--feature-gates=IPv6DualStack=false", f"--kubeconfig={config}", "--leader-elect=true", "--node-cidr-mask-size=23",
        "--port=0", "--profiling=false", f"--requestheader-client-ca-file={pki / 'front-proxy-ca.crt'}",
        f"--root-ca-file={pki / 'ca.crt'}", f"--service-account-private-key-file={pki / 'sa.key'}",
        "--service-cluster-ip-range=10.96.0.0/16", "--terminated-pod-gc-threshold=1000",
        "--use-service-account-credentials=true", *more,
    ]  # fmt: skip


@contextmanager
def running(directory: Path, flags: list[str], name: str = "manager") -> Iterator[subprocess.Popen[str]]:
    """Yield a manager as a process of its own."""
    log = (directory / f"{name}.log").open("w")
    process = subprocess.Popen(
        [sys.executable, "-m", "pybernetes.cmd.main", "kube-controller-manager", *flags], stdout=log, stderr=log, text=True
    )  # fmt: skip
    try:
        yield process
    finally:
        end(process)
        log.close()


def page(port: int, path: str, token: str = "", pair: Path | None = None, **headers: str) -> tuple[int, str]:
    """Return a page of the manager, asked for with a token or a certificate."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if pair is not None:
        context.load_cert_chain(pair)
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=60)
    try:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(
            "GET", path, headers=given | ({"Authorization": f"Bearer {token}"} if token else {})
        )
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def free_port() -> int:
    import socket

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    require_program("kubectl")
    directory = tmp_path_factory.mktemp("manager")
    (directory / "certs").mkdir()
    key = directory / "certs" / "sa.key"
    subprocess.run(["openssl", "genrsa", "-out", str(key), "2048"], check=True, capture_output=True)
    tls.ensure_authority(directory / "certs", "front-proxy", "front-proxy-ca")
    issuer = "https://kubernetes.default.svc.cluster.local"
    flags = (
        f"--service-account-signing-key-file={key}", f"--service-account-key-file={key}",
        f"--service-account-issuer={issuer}", "--service-cluster-ip-range=10.96.0.0/16",
    )  # fmt: skip
    with servers.running(directory, *flags) as apiserver:
        yield apiserver


def leader(server: Server) -> str:
    status, lease = server.call("GET", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager")  # fmt: skip
    return lease["spec"].get("holderIdentity", "") if status == 200 else ""


def client_pair(server: Server, authority: str, name: str, *groups: str) -> Path:
    """Return a file with a certificate and its key, signed by an authority."""
    pki = server.directory / "certs"
    signer = tls.Pair((pki / f"{authority}.crt").read_bytes(), (pki / f"{authority}.key").read_bytes())
    pair = tls.issue(signer, name, organizations=groups, client=True)
    path = server.directory / f"{name}.pem"
    path.write_bytes(pair.certificate + pair.key)
    return path


def test_the_command_line_of_the_seeds(server: Server) -> None:
    port = free_port()
    with running(server.directory, seeds(server, f"--secure-port={port}")):
        until(lambda: page(port, "/healthz") == (200, "ok"), not_yet=NOT_YET)
        until(lambda: leader(server), not_yet=NOT_YET)
        server.kubectl("create", "deployment", "web", "--image=nginx", "--replicas=3")
        until(
            lambda: server.kubectl("get", "pods", "-l", "app=web", "-o", "name").count("pod/") == 3,
            not_yet=NOT_YET,
        )
        status, replica_sets = server.call("GET", "/apis/apps/v1/namespaces/default/replicasets")
        assert status == 200 and len(replica_sets["items"]) == 1
        # Each controller acts as itself, under the one name that upstream's write with.
        managers = {field["manager"] for field in replica_sets["items"][0]["metadata"]["managedFields"]}
        assert managers == {"kube-controller-manager"}
        accounts = server.kubectl("-n", "kube-system", "get", "serviceaccounts", "-o", "name").split()
        assert {"serviceaccount/deployment-controller", "serviceaccount/replicaset-controller"} <= set(
            accounts
        )
        assert page(port, "/metrics")[0] == 403
        status, text = page(port, "/metrics", TOKEN)
        assert status == 200
        assert 'workqueue_depth{name="deployment"}' in text
        assert 'leader_election_master_status{name="kube-controller-manager"} 1' in text
        assert page(port, "/configz")[0] == 403
        shown = json.loads(page(port, "/configz", TOKEN)[1])["kubecontrollermanager.config.k8s.io"]
        assert shown["kind"] == "KubeControllerManagerConfiguration" and shown["Generic"]["Port"] == port
        assert shown["Generic"]["LeaderElection"]["leaseDuration"] == "15s"
        # Callers with a certificate: an administrator, a proxy that speaks for one, and one that says nothing.
        admin = client_pair(server, "ca", "jane", "system:masters")
        proxy = client_pair(server, "front-proxy-ca", "front-proxy-client")
        assert page(port, "/metrics", pair=admin)[0] == 200
        spoken_for = {"X_Remote_User": "jane", "X_Remote_Group": "system:masters"}
        assert page(port, "/metrics", pair=proxy, **spoken_for)[0] == 200
        assert page(port, "/metrics", pair=proxy, X_Remote_User="jane")[0] == 403
        assert page(port, "/metrics", pair=proxy)[0] == 401
        server.kubectl("delete", "deployment", "web")
    assert leader(server) == ""  # a manager that is told to stop gives the lease back


def test_one_works_and_the_other_stands_by(server: Server) -> None:
    ports = [free_port(), free_port()]
    quick = (
        "--leader-elect-lease-duration=6s",
        "--leader-elect-renew-deadline=5s",
        "--leader-elect-retry-period=500ms",
    )
    flags = [
        [f"--kubeconfig={server.kubeconfig}", "--bind-address=127.0.0.1", f"--secure-port={port}", "--controllers=deployment", *quick]
        for port in ports
    ]  # fmt: skip
    with running(server.directory, flags[0], "first") as first:
        first_leader = until(lambda: leader(server), not_yet=NOT_YET)
        with running(server.directory, flags[1], "second"):
            until(lambda: page(ports[1], "/healthz")[0] == 200, not_yet=NOT_YET)
            assert leader(server) == first_leader
            os.kill(first.pid, signal.SIGKILL)  # without giving the lease back

            def another() -> str:
                holder = leader(server)
                return "" if holder == first_leader else holder

            assert until(another, not_yet=NOT_YET) != first_leader


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (["--controllers=nope"], '"nope" is not in the list of known controllers'),
        (["--enable-leader-migration"], "--enable-leader-migration: True is not supported: no controller"),
        (["--leader-migration-config=/x"], "--leader-migration-config: '/x' is not supported: no controller"),
        (["--port=8080"], "--port: there is no port without TLS"),
        (["--feature-gates=Odd"], "missing bool value for Odd"),
        (["--leader-elect-resource-lock=endpoints"], '"endpoints" is not supported'),
        (["--kubeconfig=/nowhere/at/all"], "the kubeconfig cannot be read"),
    ],
)
def test_mistakes_are_named(
    flags: list[str], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "config"
    value = {
        "kind": "Config", "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
    }  # fmt: skip
    config.write_text(json.dumps(value))
    assert main([f"--kubeconfig={config}", "--secure-port=0", *flags]) == 1
    assert complaint in capsys.readouterr().err


def test_the_help_names_every_controller() -> None:
    text = " ".join((parser().format_help()).split()).replace("- ", "-")
    for name in ("deployment-controller", "garbage-collector-controller"):
        assert name in text
    assert "--concurrent-deployment-syncs" in text
