"""A kubelet's identity: asked for with a bootstrap token, replaced before it ends, for clients and for its server."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from cryptography import x509

from pybernetes.client import kubeconfig
from pybernetes.lib.clock import ManualClock
from pybernetes.node.kubelet.certificates.certificate_request import CLIENT_SIGNER, SERVING_SIGNER
from pybernetes.node.kubelet.certificates.certificate_rotation import CertificateRotation
from pybernetes.node.kubelet.cgroups.pod_cgroups import PodCgroups
from pybernetes.node.kubelet.options import Options
from tests import servers
from tests.cmd.test_kube_controller_manager import running as running_manager
from tests.support import end, require_program, until

pytestmark = [pytest.mark.slow, pytest.mark.e2e]
BINDINGS = {
    "kubelet-bootstrap": ("system:node-bootstrapper", "system:bootstrappers"),
    "approve-first": (
        "system:certificates.k8s.io:certificatesigningrequests:nodeclient",
        "system:bootstrappers",
    ),
    "approve-renewal": (
        "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient",
        "system:nodes",
    ),
}


def serial(path: Path) -> int:
    return x509.load_pem_x509_certificate(path.read_bytes()).serial_number if path.exists() else 0


def served(port: int) -> int:
    """Return the serial number of the certificate that a server shows."""
    try:
        pem = ssl.get_server_certificate(("127.0.0.1", port), timeout=5)
    except OSError:
        return 0
    return x509.load_pem_x509_certificate(pem.encode()).serial_number


def test_certificates_are_had_and_renewed(tmp_path: Path) -> None:
    require_program("kubectl")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    rbac = ("--authorization-mode=Node,RBAC", "--enable-bootstrap-token-auth")
    with servers.running(tmp_path, *rbac) as server:
        signer = [f"--kubeconfig={server.kubeconfig}", "--secure-port=0", "--leader-elect=false",
                  "--controllers=certificatesigningrequest-approving-controller,certificatesigningrequest-signing-controller",
                  f"--cluster-signing-cert-file={tmp_path}/certs/ca.crt", f"--cluster-signing-key-file={tmp_path}/certs/ca.key",
                  "--cluster-signing-duration=8760h"]  # fmt: skip
        server.kubectl(
            "create", "secret", "generic", "bootstrap-token-abcdef", "-n", "kube-system",
            "--type=bootstrap.kubernetes.io/token", "--from-literal=token-id=abcdef",
            "--from-literal=token-secret=0123456789abcdef", "--from-literal=usage-bootstrap-authentication=true",
        )  # fmt: skip
        for name, (role, group) in BINDINGS.items():
            server.kubectl("create", "clusterrolebinding", name, f"--clusterrole={role}", f"--group={group}")
        config = yaml.safe_load(server.kubeconfig.read_text())
        config["users"][0]["user"] = {"token": "abcdef.0123456789abcdef"}
        (tmp_path / "bootstrap.conf").write_text(yaml.safe_dump(config))
        log = tmp_path / "kubelet.log"
        with running_manager(tmp_path, signer), log.open("w") as output:
            kubelet = subprocess.Popen([
                sys.executable, "-m", "pybernetes.cmd.main", "kubelet", f"--kubeconfig={tmp_path}/kubelet.conf",
                f"--bootstrap-kubeconfig={tmp_path}/bootstrap.conf", f"--root-dir={tmp_path}/kubelet",
                "--hostname-override=node9", "--node-ip=127.0.0.1", f"--port={port}", "--healthz-port=0",
                "--rotate-certificates", "--rotate-server-certificates", "--fail-swap-on=false",
                f"--container-runtime-endpoint=unix://{tmp_path}/none.sock", f"--cgroup-root=/{tmp_path.name}-{os.getpid()}",
            ], stdout=output, stderr=output)  # fmt: skip
            try:
                _follow(server, tmp_path / "kubelet" / "pki", port, log)
            finally:
                end(kubelet)
                PodCgroups(f"/{tmp_path.name}-{os.getpid()}").remove_all()


def _follow(server: servers.Server, folder: Path, port: int, log: Path) -> None:
    client, own = folder / "kubelet-client-current.pem", folder / "kubelet-server-current.pem"

    def story() -> str:
        return log.read_text()[-3000:]

    until(lambda: serial(client), story=story)
    subject = x509.load_pem_x509_certificate(client.read_bytes()).subject.rfc4514_string()
    assert subject == "CN=system:node:node9,O=system:nodes"

    def approve() -> int:
        items = server.call("GET", "/apis/certificates.k8s.io/v1/certificatesigningrequests")[1]["items"]
        for request in items:
            if request["spec"]["signerName"] == SERVING_SIGNER and not request["status"].get("conditions"):
                assert request["spec"]["username"] == "system:node:node9"
                server.kubectl("certificate", "approve", request["metadata"]["name"])
        return serial(own)

    until(approve, story=story)
    until(lambda: served(port) == serial(own), story=story)
    before = serial(client)
    asyncio.run(_renew(server.directory / "kubelet.conf", folder))
    assert serial(client) not in (0, before)


async def _renew(config: Path, folder: Path) -> None:
    """Let nine tenths of the client certificate's life go by."""
    pem, clock, replaced = folder / "kubelet-client-current.pem", ManualClock(time.time()), asyncio.Event()
    async with kubeconfig.load(config).client(user_agent="kubelet") as client:
        rotation = CertificateRotation(client, clock, Options("node9", certificates=folder), ("127.0.0.1",))
        task = asyncio.create_task(rotation.run(CLIENT_SIGNER, pem, lambda path: replaced.set()))
        await clock.advance(100 * 86400)
        assert not replaced.is_set()
        await clock.advance(230 * 86400)
        async with asyncio.timeout(60):
            await replaced.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
