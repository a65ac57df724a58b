"""kubectl as one file: it runs without anything of this installation, and unpacks itself once."""

from __future__ import annotations

import json
import subprocess
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from pybernetes.lib.tls import tls
from pybernetes.tools.kubectl import bundle

pytestmark = pytest.mark.slow


def test_one_file_is_enough(tmp_path: Path) -> None:
    target, unpacked = tmp_path / "kubectl", tmp_path / "unpacked"
    unpacked.mkdir()
    bundle.build(target)
    environment = {"PATH": "/usr/bin:/bin", "TMPDIR": str(unpacked), "HOME": str(tmp_path)}
    for _ in range(2):
        done = subprocess.run(
            [target, "version", "--client", "-o", "json"], env=environment, capture_output=True, text=True, check=True
        )  # fmt: skip
        assert json.loads(done.stdout)["clientVersion"]["gitVersion"].startswith("v1.37.")
    (folder,) = unpacked.iterdir()
    assert folder.stat().st_mode & 0o077 == 0
    _look_into_certificates(target, environment, tmp_path)
    _pass_requests_on(target, environment)
    refused = subprocess.run([target, "get", "pods"], env=environment, capture_output=True, text=True)
    assert refused.returncode == 1 and "refused" in refused.stderr


def _look_into_certificates(target: Path, environment: dict[str, str], folder: Path) -> None:
    certificate, key = folder / "a.crt", folder / "a.key"
    tls.ensure_pair(certificate, key, tls.create_authority("a"), "a", ["a"])
    command = [str(target), "create", "secret", "tls", "a", "--dry-run=client", "-o=name"]
    command += [f"--cert={certificate}", f"--key={key}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "secret/a\n"


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Tell the path."""
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.path)))
        self.end_headers()
        self.wfile.write(self.path.encode())


def _pass_requests_on(target: Path, environment: dict[str, str]) -> None:
    """The proxy is the command that needs most: a server, a client, and expressions of what it lets pass."""
    with HTTPServer(("127.0.0.1", 0), _Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        command = [str(target), f"--server=http://127.0.0.1:{server.server_port}", "proxy", "--port=0"]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as proxy:
            try:
                assert proxy.stdout is not None
                address = proxy.stdout.readline().split()[-1]
                with urllib.request.urlopen(f"http://{address}/api/x", timeout=60) as answer:
                    assert answer.read() == b"/api/x"
            finally:
                proxy.terminate()
                server.shutdown()
