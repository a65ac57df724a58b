"""A result of the API benchmark."""

from typing import Any

from bench.harness.report import figures_of_load


def result(rate: float, **extra: Any) -> dict[str, Any]:
    """Return a result with a rate of reads."""
    figures = figures_of_load([0.001] * 10, 10 / rate, 1000, 0, 0.1, "python")
    return {
        "server_version": "v1.37.0",
        "machine": {"cores": 2},
        "quick": False,
        "pod_bytes": 1700,
        "results": {"get-1": figures},
        "ready_seconds": {"as found": 2.0},
        "memory_megabytes": {"process 1 before": 100.0},
        **extra,
    }
