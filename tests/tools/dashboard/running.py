"""A dashboard as a program of its own, beside an API server, for tests that come as browsers do."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.servers import TOKEN, Server
from tests.support import end


class Answer(NamedTuple):
    """What the dashboard answered."""

    status: int
    headers: http.client.HTTPMessage
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


class Dashboard:
    """A running dashboard and its first link."""

    def __init__(self, link: str) -> None:
        self.link = link
        parts = re.fullmatch(r"http://(.+):(\d+)/#code=(.+)", link)
        assert parts is not None
        self.host, self.code, self.port = f"{parts[1]}:{parts[2]}", parts[3], int(parts[2])
        self.origin = f"http://{self.host}"

    def ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str | None] | None = None
    ) -> Answer:
        """Send a request as a page of the dashboard would, but with other headers (None: without that one)."""
        sent: dict[str, str | None] = {"Host": self.host, "Sec-Fetch-Site": "same-origin"}
        if method != "GET":
            sent["Origin"] = self.origin
        sent |= headers or {}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
            for name, value in sent.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.putheader("Content-Length", str(len(data)))
            connection.endheaders(data)
            response = connection.getresponse()
            # An upgrade has no end.
            text = "" if response.status == 101 else response.read().decode()
            return Answer(response.status, response.headers, text)
        finally:
            connection.close()

    def log_in(self, token: str = TOKEN) -> dict[str, str | None]:
        """Log in with a token; return the headers of a page of that session."""
        answer = self.ask("POST", "/session", {"token": token})
        assert answer.status == 200, answer.text
        cookie = answer.headers["Set-Cookie"].partition(";")[0]
        return {"Cookie": cookie, "X-Dashboard-Token": answer.json["token"]}


@contextmanager
def running(server: Server, kubeconfig: Path | None = None, *flags: str) -> Iterator[Dashboard]:
    """Yield a dashboard of an API server, stopped at the end."""
    path = kubeconfig or server.kubeconfig
    command = [sys.executable, "-m", "pybernetes.cmd.main", "dashboard", f"--kubeconfig={path}", *flags]
    with (server.directory / "dashboard-log").open("a") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True
        )
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield Dashboard(process.stdout.readline().strip())
        finally:
            end(process)
