"""What this process asked API servers for, under upstream's names: how often, with which outcome, how long it took."""

from __future__ import annotations

from pybernetes.lib.metrics.counts import Counters, Histograms
from pybernetes.lib.metrics.exposition import Exposition

_BOUNDS = (0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60)
FAILED = "<error>"  # the code of a request that got no answer


class RequestMetrics:
    """Counts requests by the server's address, method and status."""

    def __init__(self) -> None:
        self._requests = Counters(
            "rest_client_requests_total",
            "[ALPHA] Number of HTTP requests, partitioned by status code, method, and host.",
            ("code", "host", "method"),
        )
        self._seconds = Histograms(
            "rest_client_request_duration_seconds",
            "[ALPHA] Request latency in seconds. Broken down by verb, and host.",
            _BOUNDS,
            ("host", "verb"),
        )

    def count(self, host: str, method: str, code: str, seconds: float) -> None:
        """Count a request that was answered, or was not."""
        self._requests.add(code, host, method)
        self._seconds.observe(seconds, host, method)

    def write(self, text: Exposition) -> None:
        """Write what was counted; nothing where nobody was asked over a network."""
        for family in (self._requests, self._seconds):
            if family.values:
                family.write(text)


REQUESTS = RequestMetrics()  # of this process, whichever of its clients asked
