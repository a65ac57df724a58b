"""API servers as programs of their own, for tests that drive them from outside."""

from __future__ import annotations

import http.client
import json
import os
import select
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import yaml

from tests.support import end

TOKEN = "the-administrators-token"
# Only what fails waits that long: others may use the machine, too.
START_SECONDS, ANSWER_SECONDS, KUBECTL_SECONDS = 180.0, 180.0, 300.0
# Without controllers nobody makes the service accounts that pods would have to have.
NO_ACCOUNTS = "--disable-admission-plugins=ServiceAccount"


class Server:
    """A running API server and its administrator."""

    def __init__(self, directory: Path, process: subprocess.Popen[str], port: int) -> None:
        self.directory, self.process, self.port = directory, process, port
        self.kubeconfig = directory / "kubeconfig"
        self.authority = directory / "certs" / "ca.crt"
        self.kubeconfig.write_text(yaml.safe_dump(self._config()))

    def _config(self) -> dict[str, Any]:
        cluster = {"server": f"https://127.0.0.1:{self.port}", "certificate-authority": str(self.authority)}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": "admin", "user": {"token": TOKEN}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
            "current-context": "test",
        }

    def connection(self) -> http.client.HTTPSConnection:
        """Return a connection that trusts the server's own authority."""
        context = ssl.create_default_context(cafile=str(self.authority))
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=context, timeout=ANSWER_SECONDS)

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: dict[str, str] | None = None,
        query: dict[str, Any] | None = None,
        token: str = TOKEN,
    ) -> tuple[int, Any]:
        """Return one request; gives the status and the decoded body (text if it is not JSON)."""
        sent = {"Authorization": f"Bearer {token}"} if token else {}
        sent |= {"Content-Type": "application/json"} | (headers or {})
        data = body if body is None or isinstance(body, bytes | str) else json.dumps(body)
        connection = self.connection()
        try:
            connection.request(
                method, path + (f"?{urlencode(query, doseq=True)}" if query else ""), data, sent
            )
            response = connection.getresponse()
            text = response.read()
            kind = response.headers.get("Content-Type", "")
            return response.status, json.loads(text) if kind.startswith(
                "application/json"
            ) and text else text.decode()
        finally:
            connection.close()

    def make(self, path: str, body: Any) -> Any:
        """Create an object and return it as the server has it."""
        status, answer = self.call("POST", path, body)
        assert status == 201, answer
        return answer

    def kubectl(
        self,
        *arguments: str,
        given: str | None = None,
        fails: bool = False,
        environment: dict[str, str] | None = None,
    ) -> str:
        """Run the real kubectl; return what it printed (its complaints if it is to fail)."""
        home = {"KUBECONFIG": str(self.kubeconfig), "HOME": str(self.directory)}
        environment = {**os.environ, **home, **(environment or {})}
        done = subprocess.run(
            ["kubectl", *arguments],
            input=given,
            text=True,
            capture_output=True,
            timeout=KUBECTL_SECONDS,
            env=environment,
        )
        assert (done.returncode != 0) == fails, f"kubectl {arguments}: {done.stdout}\n{done.stderr}"
        return done.stderr if fails else done.stdout

    def stop(self) -> None:
        """Stop the server as its operator would."""
        self.process.terminate()
        self.process.wait(60)


@contextmanager
def running(directory: Path, *flags: str, port: int = 0) -> Iterator[Server]:
    """Yield an API server with its data and certificates in a directory, stopped at the end."""
    tokens = directory / "tokens.csv"
    tokens.write_text(f'{TOKEN},admin,admin,"system:masters"\n')
    command = [
        sys.executable, "-m", "pybernetes.cmd.main", "kube-apiserver", "--bind-address=127.0.0.1",
        f"--secure-port={port}", f"--cert-dir={directory / 'certs'}", f"--token-auth-file={tokens}", *flags,
    ]  # fmt: skip
    if not any(flag.startswith(("--etcd-servers", "--storage-backend", "--data-dir")) for flag in flags):
        command.append(f"--data-dir={directory / 'data'}")
    if not any("admission-plugins" in flag for flag in flags):
        command.append(NO_ACCOUNTS)
    log = (directory / "log").open("a")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        yield Server(directory, process, _wait(process, directory / "log"))
    finally:
        end(process)
        log.close()


def longest_turn(server: Server) -> tuple[float, str]:
    """Return the processor time of the longest turn of a watched server's event loop, and the function it was in."""
    _, text = server.call("GET", "/metrics")
    line = next(line for line in text.splitlines() if line.startswith("pybernetes_event_loop_longest_turn"))
    name, _, value = line.rpartition(" ")
    return float(value), name


def _wait(process: subprocess.Popen[str], log: Path) -> int:
    """Wait for the line that says where the server listens; return the port."""
    assert process.stdout is not None
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        ready, _, _ = select.select([process.stdout], [], [], 0.5)
        line = process.stdout.readline() if ready else ""
        if "is serving on" in line:
            return int(line.rpartition(":")[2])
        if process.poll() is not None:
            break
    raise AssertionError(f"the API server did not start:\n{log.read_text()[-4000:]}")
