"""What is counted of calls to admission webhooks."""

from __future__ import annotations

from collections import Counter

from pybernetes.control_plane.apiserver.webhooks.certificate_flaws import CertificateFlaws
from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.lib.metrics.histogram import Histogram

_BOUNDS = (0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 10.0, 25.0)
_PREFIX = "apiserver_admission_webhook_"
_HIGHEST_CODE = 600


class WebhookMetrics:
    """Durations, refusals, and failures that were let pass."""

    def __init__(self) -> None:
        self._durations: dict[tuple[str, str, str, str], Histogram] = {}
        self._requests: Counter[tuple[str, str, str, str, str]] = Counter()
        self._rejections: Counter[tuple[str, str, str, str, str]] = Counter()
        self._open: Counter[tuple[str, str]] = Counter()
        self.certificate_flaws = CertificateFlaws()

    def called(self, name: str, sort: str, operation: str, code: int, rejected: bool, seconds: float) -> None:
        """Note a call and how it ended."""
        said = "true" if rejected else "false"
        self._durations.setdefault((name, operation, said, sort), Histogram(_BOUNDS)).observe(seconds)
        self._requests[str(min(code, _HIGHEST_CODE)), name, operation, said, sort] += 1

    def rejected(self, name: str, sort: str, operation: str, why: str, code: int) -> None:
        """Note a refusal: by the webhook (no_error), or because it could not be asked."""
        self._rejections[why, name, operation, str(min(code, _HIGHEST_CODE)), sort] += 1

    def failed_open(self, name: str, sort: str) -> None:
        """Note a failure that was let pass."""
        self._open[name, sort] += 1

    def render(self, out: Exposition) -> None:
        """Write everything for a scrape."""
        self.certificate_flaws.render(out)
        name = _PREFIX + "admission_duration_seconds"
        out.family(name, "histogram", "Seconds that calls of admission webhooks took.")
        labels = ("name", "operation", "rejected", "type")
        for key, histogram in self._durations.items():
            out.histogram(name, list(zip(labels, key, strict=True)), histogram)
        for short, kind, names, table in (
            ("request_total", "Calls of admission webhooks.", ("code", "name", "operation", "rejected", "type"), self._requests),
            ("rejection_count", "Writes refused by admission webhooks.", ("error_type", "name", "operation", "rejection_code", "type"), self._rejections),
            ("fail_open_count", "Failures of admission webhooks that were let pass.", ("name", "type"), self._open),
        ):  # fmt: skip
            out.family(_PREFIX + short, "counter", kind)
            for values, count in table.items():
                out.sample(_PREFIX + short, list(zip(names, values, strict=True)), count)
