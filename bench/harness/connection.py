"""One TLS connection to the API server, and the bytes of the requests that go over it."""

import http.client
import json
import socket
import ssl
from typing import Any

from bench.harness.kubeconfig import Target

USER_AGENT = "pyb-bench"


class ServerError(Exception):
    """The server answered a request that the benchmark needs with an error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status


def open_socket(target: Target, timeout: float = 30) -> ssl.SSLSocket:
    """Connect, shake hands, and return a blocking socket."""
    plain = socket.create_connection((target.host, target.port), timeout=timeout)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return target.tls.wrap_socket(plain, server_hostname=target.server_name)


def request_bytes(
    target: Target,
    method: str,
    path: str,
    body: bytes = b"",
    content_type: str = "application/json",
    accept: str = "application/json",
) -> bytes:
    """Build a whole HTTP/1.1 request, ready to be sent as often as wanted."""
    lines = [
        f"{method} {path} HTTP/1.1",
        f"Host: {target.host}:{target.port}",
        f"User-Agent: {USER_AGENT}",
        f"Accept: {accept}",
    ]
    if target.token:
        lines.append(f"Authorization: Bearer {target.token}")
    if body:
        lines += [f"Content-Type: {content_type}", f"Content-Length: {len(body)}"]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def call(
    target: Target,
    method: str,
    path: str,
    body: Any = None,
    timeout: float = 120,
    accept: tuple[int, ...] = (),
) -> Any:
    """Make one request outside of any measurement and return the decoded answer.

    Answers outside 2xx raise, except for the status codes in `accept`.
    """
    connection = http.client.HTTPSConnection(target.host, target.port, timeout=timeout)
    connection.sock = open_socket(target, timeout)
    headers = {"User-Agent": USER_AGENT, "Accept": "application/json", "Content-Type": "application/json"}
    if target.token:
        headers["Authorization"] = f"Bearer {target.token}"
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        content = response.read()
    finally:
        connection.close()
    is_json = response.headers.get("Content-Type", "").startswith("application/json")
    answer = json.loads(content) if is_json else content.decode(errors="replace")
    if response.status >= 300 and response.status not in accept:
        message = answer.get("message", "") if isinstance(answer, dict) else answer
        raise ServerError(response.status, f"{method} {path}: {message}")
    return answer
