"""A static configuration of Prometheus for a cluster: every component, and its health checks."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from pybernetes.tools.slo.targets import Target

_SECONDS = 15


def configuration(
    url: str, targets: Iterable[Target], ca_file: str, token_file: str, *, insecure: bool = False
) -> str:
    """Return the text of the file (JSON, which is YAML too).

    ``url`` is where the API server is. With ``insecure`` the certificates of components that are asked directly are not
    verified; who may pretend to be one of them then gets the token.
    """
    jobs: list[dict[str, Any]] = []
    for target in targets:
        server = urlsplit(target.server or url)
        verified: dict[str, Any] = {"ca_file": ca_file} if ca_file else {}
        job: dict[str, Any] = {
            "job_name": f"{target.name}{_page(target)}",
            "scheme": server.scheme,
            "metrics_path": target.path,
            "tls_config": {"insecure_skip_verify": True} if insecure and target.server else verified,
            "static_configs": [
                {"targets": [f"{_host(server.hostname)}:{server.port or _default(server.scheme)}"]}
            ],
        }
        if token_file and server.scheme == "https":  # a token never goes where anybody can read it
            job["authorization"] = {"credentials_file": token_file}
        jobs.append(job)
    whole = {"global": {"scrape_interval": f"{_SECONDS}s"}, "scrape_configs": jobs}
    return json.dumps(whole, indent=2) + "\n"


def _page(target: Target) -> str:
    return target.path[target.path.rindex("/metrics") :] if "/metrics" in target.path else target.path


def _host(name: str | None) -> str:
    return f"[{name}]" if name and ":" in name else name or ""


def _default(scheme: str) -> int:
    return 443 if scheme == "https" else 80
