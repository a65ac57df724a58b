"""A static configuration of Prometheus for a cluster: every component, and its health checks, through the API server."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

_SECONDS = 15


def configuration(url: str, paths: Iterable[str], ca_file: str, token_file: str) -> str:
    """Return the text of the file (JSON, which is YAML too); ``paths`` are pages of metrics at the API server."""
    server = urlsplit(url)
    target = f"{server.hostname}:{server.port or 443}"
    jobs: list[dict[str, Any]] = []
    for path in paths:
        for page in (path, f"{path}/slis"):
            job: dict[str, Any] = {
                "job_name": page.strip("/"),
                "scheme": server.scheme,
                "metrics_path": page,
                "tls_config": {"ca_file": ca_file} if ca_file else {},
                "static_configs": [{"targets": [target]}],
            }
            if token_file:
                job["authorization"] = {"credentials_file": token_file}
            jobs.append(job)
    whole = {"global": {"scrape_interval": f"{_SECONDS}s"}, "scrape_configs": jobs}
    return json.dumps(whole, indent=2) + "\n"
