"""What requests to the kubelet's server have to be allowed to do."""

from __future__ import annotations

import pytest

from pybernetes.node.kubelet.server.auth import attributes


@pytest.mark.parametrize(
    ("method", "path", "verb", "names"),
    [
        ("GET", "/pods", "get", ["pods", "proxy"]),
        ("GET", "/metrics/cadvisor", "get", ["metrics"]),
        ("POST", "/exec/n/p/c", "create", ["proxy"]),
        # A WebSocket begins with GET: looking at a node is no right to run something there.
        ("GET", "/exec/n/p/c", "create", ["proxy"]),
        ("GET", "/attach/n/p/c", "create", ["proxy"]),
        ("GET", "/portForward/n/p", "create", ["proxy"]),
        ("GET", "/run/n/p/c", "create", ["proxy"]),
        ("GET", "/containerLogs/n/p/c", "get", ["proxy"]),
        ("GET", "/stats/summary", "get", ["stats"]),
        ("GET", "/healthz", "get", ["healthz", "proxy"]),
    ],
)
def test_what_requests_need(method: str, path: str, verb: str, names: list[str]) -> None:
    questions = attributes(method, path, "node")
    assert [question["subresource"] for question in questions] == names and {
        question["verb"] for question in questions
    } == {verb}
