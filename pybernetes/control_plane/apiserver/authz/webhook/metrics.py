"""What webhooks that decide on rights have to tell, under upstream's names."""

from __future__ import annotations

from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.lib.metrics.histogram import Histogram

_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_BEGIN = "apiserver_authorization_"


class WebhookAuthorizationMetrics:
    """Calls and match conditions, by the name of the webhook."""

    def __init__(self) -> None:
        self.calls: dict[tuple[str, str], Histogram] = {}
        self.fail_open: dict[tuple[str, str], int] = {}
        self.match_errors: dict[str, int] = {}
        self.exclusions: dict[str, int] = {}

    def called(self, name: str, result: str, seconds: float) -> None:
        """Count a call."""
        if (name, result) not in self.calls:
            self.calls[name, result] = Histogram(_BOUNDS)
        self.calls[name, result].observe(seconds)

    def opened(self, name: str, result: str) -> None:
        """Count a failure after which others decide."""
        self.fail_open[name, result] = self.fail_open.get((name, result), 0) + 1

    def render(self, out: Exposition) -> None:
        """Write the metrics."""
        out.family(f"{_BEGIN}webhook_evaluations_total", "counter", "Round-trips to authorization webhooks.")
        for (name, result), histogram in self.calls.items():
            labels = [("name", name), ("result", result)]
            out.sample(f"{_BEGIN}webhook_evaluations_total", labels, histogram.number)
        out.family(f"{_BEGIN}webhook_duration_seconds", "histogram", "Request latency in seconds.")
        for (name, result), histogram in self.calls.items():
            labels = [("name", name), ("result", result)]
            out.histogram(f"{_BEGIN}webhook_duration_seconds", labels, histogram)
        out.family(
            f"{_BEGIN}webhook_evaluations_fail_open_total",
            "counter",
            "NoOpinion results due to webhook timeout or error.",
        )
        for (name, result), count in self.fail_open.items():
            out.sample(
                f"{_BEGIN}webhook_evaluations_fail_open_total", [("name", name), ("result", result)], count
            )
        for metric, table in (
            ("evaluation_errors_total", self.match_errors),
            ("exclusions_total", self.exclusions),
        ):
            full = f"{_BEGIN}match_condition_{metric}"
            out.family(full, "counter", "Match conditions of authorization webhooks.")
            for name, count in table.items():
                out.sample(full, [("name", name), ("type", "Webhook")], count)
