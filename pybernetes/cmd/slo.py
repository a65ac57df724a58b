"""slo: hold a running cluster against the official service level objectives."""

from __future__ import annotations

import argparse
import asyncio
import math
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pybernetes.client.client import Client
    from pybernetes.tools.slo.indicators import Indicator, Sample

SUMMARY = "Print the service level indicators of a running cluster beside the official objectives"
_MOST_BYTES = 64 << 20


def main(argv: list[str]) -> int:
    """Print a line for each indicator; the exit code is 1 if an objective is missed, 2 if nothing could be asked."""
    parser = argparse.ArgumentParser(prog="slo", description=SUMMARY)
    parser.add_argument(
        "--kubeconfig", default="", help="file that says where the API server is and who this is"
    )
    parser.add_argument(
        "--prometheus-config",
        action="store_true",
        help="print a configuration of Prometheus instead, which scrapes all components through the API server",
    )
    parser.add_argument("--ca-file", default="", help="file with the authority that Prometheus trusts")
    parser.add_argument("--token-file", default="", help="file with the token that Prometheus shows")
    parser.add_argument("--nodes", type=int, default=100, help="how many kubelets to ask at most")
    options = parser.parse_args(argv)
    from pybernetes.client import kubeconfig
    from pybernetes.client.errors import StatusError
    from pybernetes.tools.slo import prometheus
    from pybernetes.tools.slo.indicators import indicators

    try:
        config = kubeconfig.load(options.kubeconfig or None)
        if options.prometheus_config:
            paths = asyncio.run(_components(config.client(), options.nodes))
            print(prometheus.configuration(config.server, paths, options.ca_file, options.token_file), end="")
            return 0
        samples, problems = asyncio.run(_samples(config.client(), options.nodes))
    except (StatusError, OSError, ValueError) as error:
        print(f"slo: {error}", file=sys.stderr)
        return 2
    for problem in problems:
        print(f"slo: not asked: {problem}", file=sys.stderr)
    measured = indicators(samples)
    print(_table(measured))
    return 0 if all(indicator.met for indicator in measured) else 1


async def _components(client: Client, nodes: int) -> list[str]:
    """Return where the components show their metrics: the API server passes questions on."""
    listed = await client.call("GET", "/api/v1/nodes", f"limit={nodes}")
    schedulers = await client.call(
        "GET", "/api/v1/namespaces/kube-system/pods", "labelSelector=component%3Dkube-scheduler"
    )
    paths = ["/metrics"]
    paths += [f"/api/v1/nodes/{node['metadata']['name']}/proxy/metrics" for node in listed["items"]]
    return paths + [
        f"/api/v1/namespaces/kube-system/pods/https:{pod['metadata']['name']}:10259/proxy/metrics"
        for pod in schedulers["items"]
    ]


async def _samples(client: Client, nodes: int) -> tuple[list[Sample], list[str]]:
    """Return what all components tell, and whom nobody could ask."""
    from pybernetes.client.errors import StatusError
    from pybernetes.tools.slo.indicators import parse

    problems: list[str] = []
    async with client:
        samples: list[Sample] = []
        paths = await _components(client, nodes)
        for path in paths:
            try:
                samples += parse(await _page(client, path))
            except (StatusError, OSError, ValueError) as error:
                problems.append(f"{path}: {error}")
    return samples, problems


async def _page(client: Client, path: str) -> str:
    """Return a page, which has bounds: kubelets may send anything."""
    parts, size = [], 0
    stream = await client.stream(path)
    try:
        while part := await stream.read():
            parts.append(part)
            size += len(part)
            if size > _MOST_BYTES:
                raise ValueError(f"{path} has more than {_MOST_BYTES} bytes")
    finally:
        stream.close()
    return b"".join(parts).decode(errors="replace")


def _table(measured: list[Indicator]) -> str:
    rows = [("INDICATOR", "SECONDS", "OBJECTIVE", "COUNT", "MET")]
    for indicator in measured:
        seconds = "-" if math.isnan(indicator.seconds) else f"{indicator.seconds:.3f}"
        rows.append(
            (
                indicator.name,
                seconds,
                f"{indicator.objective:g}",
                str(indicator.requests),
                "yes" if indicator.met else "no",
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
