"""slo: hold a running cluster against the official service level objectives."""

from __future__ import annotations

import argparse
import asyncio
import math
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pybernetes.client.client import Client
    from pybernetes.client.kubeconfig import Config
    from pybernetes.tools.slo.indicators import Indicator, Sample
    from pybernetes.tools.slo.targets import Target

SUMMARY = "Print the service level indicators of a running cluster beside the official objectives"
_MOST_BYTES = 64 << 20
# Whose metrics the indicators are made from.
_ASKED = ("kube-apiserver", "kubelet/", "kube-scheduler")


def main(argv: list[str]) -> int:
    """Print a line for each indicator; the exit code is 1 if an objective is missed, 2 if nothing could be asked."""
    parser = argparse.ArgumentParser(prog="slo", description=SUMMARY)
    parser.add_argument(
        "--kubeconfig", default="", help="file that says where the API server is and who this is"
    )
    parser.add_argument(
        "--prometheus-config",
        action="store_true",
        help="print a configuration of Prometheus instead, which scrapes all components",
    )
    parser.add_argument("--ca-file", default="", help="file with the authority that Prometheus trusts")
    parser.add_argument("--token-file", default="", help="file with the token that Prometheus shows")
    parser.add_argument("--nodes", type=int, default=100, help="how many kubelets to ask at most")
    parser.add_argument("--target", action="append", default=[], metavar="NAME=URL",
                        help="a component that no pod of kube-system shows, for Prometheus; may be repeated")  # fmt: skip
    parser.add_argument("--insecure-skip-tls-verify", action="store_true",
                        help="have Prometheus not verify the certificates of components that it asks directly")  # fmt: skip
    options = parser.parse_args(argv)
    from pybernetes.client import kubeconfig
    from pybernetes.client.errors import StatusError
    from pybernetes.tools.slo import prometheus, targets
    from pybernetes.tools.slo.indicators import indicators

    try:
        more = targets.given(options.target)
        config = kubeconfig.load(options.kubeconfig or None)
        if options.prometheus_config:
            components = asyncio.run(_components(config.client(), options.nodes))
            text = prometheus.configuration(
                config.server, [*components, *more], options.ca_file, options.token_file,
                insecure=options.insecure_skip_tls_verify,
            )  # fmt: skip
            print(text, end="")
            return 0
        samples, problems = asyncio.run(_samples(config, options.nodes))
    except (StatusError, OSError, ValueError) as error:
        print(f"slo: {error}", file=sys.stderr)
        return 2
    for problem in problems:
        print(f"slo: not asked: {problem}", file=sys.stderr)
    measured = indicators(samples)
    print(_table(measured))
    return 0 if all(indicator.met for indicator in measured) else 1


async def _components(client: Client, nodes: int) -> list[Target]:
    """Return where the components show their metrics."""
    from pybernetes.tools.slo import targets

    async with client:
        listed = await client.call("GET", "/api/v1/nodes", f"limit={nodes}")
        pods = await client.call("GET", "/api/v1/namespaces/kube-system/pods", "labelSelector=component")
        services = await client.call("GET", "/api/v1/namespaces/kube-system/services")
    names = [node["metadata"]["name"] for node in listed["items"]]
    return [*targets.through_the_apiserver(names, services["items"]), *targets.of_pods(pods["items"])]


async def _samples(config: Config, nodes: int) -> tuple[list[Sample], list[str]]:
    """Return what the API server, kubelets and schedulers tell, and whom nobody could ask."""
    from pybernetes.client.errors import StatusError
    from pybernetes.tools.slo.indicators import parse

    problems: list[str] = []
    samples: list[Sample] = []
    for target in await _components(config.client(), nodes):
        if not target.path.endswith("/metrics") or not target.name.startswith(_ASKED):
            continue
        try:
            async with _access(config, target).client() as client:
                samples += parse(await _page(client, target.path))
        except (StatusError, OSError, ValueError) as error:
            problems.append(f"{target.server}{target.path}: {error}")
    return samples, problems


def _access(config: Config, target: Target) -> Config:
    """Return how a component is reached: as the same user, at the API server or at its own address."""
    return replace(config, server=target.server, server_name="") if target.server else config


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
