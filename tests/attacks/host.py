"""The host from a pod, the kubelet with two names, and the memory of kubectl cp."""

from __future__ import annotations

import http.client
import resource
import socket
import ssl
import subprocess
import threading
from functools import partial
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.attacks._target import Attack, Target, pod, trusting, until

_PORT = 33490
_LARGE = 300  # megabytes
_TRUSTED = "trusted-by-kubelets"
_BINDING = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": _TRUSTED},
    "roleRef": {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "ClusterRole",
        "name": "system:kubelet-api-admin",
    },
    "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": _TRUSTED}],
}


def _ports(target: Target) -> str:
    """Reach a port of the host that its own packet filter closes."""
    rule = ("INPUT", "-p", "tcp", "--dport", str(_PORT), "-j", "REJECT")
    listening = socket.create_server(("", _PORT))
    listening.settimeout(15)
    target.apply(pod("caller", restricted=False))
    try:
        target.settled("caller")
        subprocess.run(["iptables", "-w", "-A", *rule], check=True)
        server = target.kubectl("config", "view", "-o", "jsonpath={.clusters[0].cluster.server}").stdout
        address = server.partition("://")[2].rpartition(":")[0]
        came = threading.Event()

        def wait() -> None:
            try:
                listening.accept()[0].close()
                came.set()
            except OSError:
                pass

        waiting = threading.Thread(target=wait)
        waiting.start()
        target.inside("caller", f"nc -w 3 {address} {_PORT} </dev/null")
        waiting.join()
        return f"port {_PORT} of the host was reached" if came.is_set() else ""
    finally:
        subprocess.run(["iptables", "-w", "-D", *rule], check=True)
        listening.close()
        target.remove("caller")


def _names(target: Target) -> str:
    """Show the kubelet a certificate whose first name may everything and whose last may nothing."""
    keys = [path for path in target.home.rglob("ca.key")]
    authority = x509.load_pem_x509_certificate(keys[0].with_suffix(".crt").read_bytes())
    signing = serialization.load_pem_private_key(keys[0].read_bytes(), None)
    key = ec.generate_private_key(ec.SECP256R1())
    target.apply(_BINDING)
    address = target.kubectl("get", "nodes", "-o", "jsonpath={.items[0].status.addresses[0].address}").stdout
    status = {}
    for names in ((_TRUSTED,), (_TRUSTED, "nobody")):
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name) for name in names])
        made = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(authority.subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(authority.not_valid_before_utc)
            .not_valid_after(authority.not_valid_after_utc)
            .add_extension(x509.ExtendedKeyUsage([x509.oid.ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
            .sign(signing, hashes.SHA256())  # type: ignore[arg-type]
        )
        pem = target.folder / "names.pem"
        form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        pem.write_bytes(made.public_bytes(serialization.Encoding.PEM) + key.private_bytes(*form))
        context = trusting()
        context.load_cert_chain(pem)
        status[len(names)] = until(partial(_is_taken, address, context), 20)
    assert status[1], "the kubelet takes nobody"
    return f"the kubelet takes {_TRUSTED}, the API server takes nobody" if status[2] else ""


def _is_taken(address: str, context: ssl.SSLContext) -> bool:
    connection = http.client.HTTPSConnection(address, 10250, context=context, timeout=20)
    try:
        connection.request("GET", "/pods")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def _copied(target: Target) -> str:
    """Copy much out of a pod: kubectl must not keep it."""
    target.apply(pod("full", restricted=False))
    try:
        target.settled("full")
        target.inside("full", f"dd if=/dev/zero of=/tmp/large bs=1048576 count={_LARGE} 2>/dev/null")
        path = target.folder / "kubeconfig"
        command = [
            str(target.pyb),
            "kubectl",
            f"--kubeconfig={path}",
            "cp",
            "full:/tmp/large",
            str(target.folder / "large"),
        ]
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        script = "import resource,subprocess,sys; subprocess.run(sys.argv[1:], capture_output=True); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        done = subprocess.run(
            ["python3", "-c", script, *command],
            capture_output=True,
            text=True,
            timeout=300,
            cwd=target.pyb.parent,
        )
        megabytes, size = int(done.stdout) // 1024, (target.folder / "large").stat().st_size >> 20
        assert size == _LARGE and before >= 0, f"{size} MB were copied"
        return f"kubectl took {megabytes} MB for {_LARGE} MB" if megabytes > _LARGE else ""
    finally:
        target.remove("full")
        Path(target.folder / "large").unlink(missing_ok=True)


ATTACKS: dict[str, Attack] = {
    "12 ports of the host from a pod": _ports,
    "12 a certificate with two names": _names,
    "12 the memory of kubectl cp": _copied,
}
