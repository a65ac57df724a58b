"""An API server that a quiet and a noisy user share, and requests to it. For benchmarks of what one does to the other."""

import http.client
import json
import os
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ADMIN, NOISY, QUIET = "admin-token", "noisy-token", "quiet-token"
TOKENS = f'{ADMIN},admin,1,"system:masters"\n{NOISY},noisy,2\n{QUIET},quiet,3\n'
PODS = "/api/v1/namespaces/default/pods"
_GROUP = "rbac.authorization.k8s.io"


@dataclass(frozen=True, slots=True)
class SharedServer:
    """Where the server is, and its process."""

    port: int
    pid: int


@contextmanager
def shared_server(
    pods: int,
    *flags: str,
    log: Path | None = None,
    within: Callable[[list[str]], list[str]] = lambda command: command,
) -> Iterator[SharedServer]:
    """Start an API server with pods in it, whose two users may read.

    ``log`` is where it writes, ``within`` turns its command into one that runs it somewhere.
    """
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "tokens.csv").write_text(TOKENS)
        command = [
            sys.executable, "-m", "pybernetes.cmd.main", "kube-apiserver", "--bind-address=127.0.0.1",
            "--secure-port=0", f"--cert-dir={folder}/certs", f"--token-auth-file={folder}/tokens.csv",
            "--storage-backend=memory", "--disable-admission-plugins=ServiceAccount", *flags,
        ]  # fmt: skip
        with open(log or os.devnull, "a") as errors:
            process = subprocess.Popen(within(command), stdout=subprocess.PIPE, stderr=errors, text=True)
        try:
            assert process.stdout is not None
            while "is serving on" not in (line := process.stdout.readline()):
                if process.poll() is not None:
                    raise RuntimeError("the server did not start")
            port = int(line.rpartition(":")[2])
            _fill(port, pods)
            yield SharedServer(port, process.pid)
        finally:
            process.terminate()
            process.wait(60)


def trusting() -> ssl.SSLContext:
    """Return the TLS of a client that asks nobody for a certificate: this is loopback."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def connect(port: int) -> http.client.HTTPSConnection:
    """Return a connection."""
    return http.client.HTTPSConnection("127.0.0.1", port, context=trusting(), timeout=60)


def call(
    connection: http.client.HTTPSConnection, method: str, path: str, token: str, body: object = None
) -> int:
    """Send one request and return the status."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    response = connection.getresponse()
    response.read()
    return response.status


def _fill(port: int, pods: int) -> None:
    """Let everybody read, and make pods."""
    connection = connect(port)
    binding = {
        "metadata": {"name": "readers"},
        "roleRef": {"apiGroup": _GROUP, "kind": "ClusterRole", "name": "view"},
        "subjects": [{"apiGroup": _GROUP, "kind": "User", "name": name} for name in ("noisy", "quiet")],
    }
    path = f"/apis/{_GROUP}/v1/clusterrolebindings"
    assert call(connection, "POST", path, ADMIN, binding) in (201, 409)  # a store may have it from before
    for number in range(pods):
        pod = {
            "metadata": {"name": f"pod-{number}", "labels": {"app": "bench"}},
            "spec": {"containers": [{"name": "c", "image": "example.com/image:1"}]},
        }
        assert call(connection, "POST", PODS, ADMIN, pod) == 201
    connection.close()
