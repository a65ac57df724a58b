"""One connection to an API server that is used for everything."""

import http.client
import json
from typing import Any

from bench.harness.connection import open_socket
from bench.harness.kubeconfig import Target


class ApiCalls:
    """Requests one after the other."""

    def __init__(self, target: Target) -> None:
        self._http = http.client.HTTPSConnection(target.host, target.port, timeout=60)
        self._http.sock = open_socket(target, 60)
        self._headers = {"Content-Type": "application/json"}
        if target.token:
            self._headers["Authorization"] = f"Bearer {target.token}"

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Send one request and return the status and the decoded answer."""
        self._http.request(method, path, None if body is None else json.dumps(body), self._headers)
        response = self._http.getresponse()
        return response.status, json.loads(response.read() or b"null")

    def expect(self, status: int, method: str, path: str, body: Any = None) -> Any:
        """Send one request that must be answered with a status, and return the answer."""
        got, answer = self.call(method, path, body)
        if got != status:
            raise RuntimeError(f"{method} {path}: {got}: {answer}")
        return answer

    def close(self) -> None:
        """End the connection."""
        self._http.close()
