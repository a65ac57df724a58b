"""audit-security: hold a running cluster against the CIS Kubernetes Benchmark."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pybernetes.tools.audit_security.report import Verdict

SUMMARY = "Hold a running cluster against the recommendations of the CIS Kubernetes Benchmark"


def main(argv: list[str]) -> int:
    """Print the verdict on every recommendation; the exit code is 1 if one is not met."""
    parser = argparse.ArgumentParser(prog="pyb audit-security", description=SUMMARY, allow_abbrev=False)
    parser.add_argument("name", nargs="?", default="", help="a local cluster, whose files are looked at too")
    parser.add_argument("--kubeconfig", default="", help="any other cluster")
    parser.add_argument("--context", default="", help="context of the kubeconfig")
    parser.add_argument("-o", "--output", choices=("text", "json", "markdown"), default="text")
    options = parser.parse_args(argv)
    if options.name and (options.kubeconfig or options.context):
        parser.error("name a local cluster, or a kubeconfig")
    from pybernetes.client.errors import StatusError
    from pybernetes.tools.audit_security import report
    from pybernetes.tools.audit_security.check import State
    from pybernetes.tools.local.paths import ClusterError

    try:
        verdicts = asyncio.run(_judge(options))
    except (ClusterError, StatusError, ValueError, OSError) as error:
        print(f"pyb audit-security: {error}", file=sys.stderr)
        return 2
    write = {"text": report.as_text, "json": report.as_json, "markdown": report.as_markdown}[options.output]
    print(write(verdicts))
    return int(any(verdict.finding.state is State.FAIL for verdict in verdicts))


async def _judge(options: argparse.Namespace) -> list[Verdict]:
    from pybernetes.client import kubeconfig
    from pybernetes.tools.audit_security import report
    from pybernetes.tools.audit_security.collect import collect
    from pybernetes.tools.local import lifecycle, paths, settings
    from pybernetes.tools.local.processes import CONTROL_PLANE

    files: dict[str, list[Path]] | None = None
    owners: tuple[int, ...]
    owners, process, source = (0,), 0, options.kubeconfig
    if not source and not options.context:
        cluster = paths.find(options.name)
        source = str(cluster.kubeconfig)
        owners = (cluster.root.stat().st_uid, settings.load(cluster).user)
        process = lifecycle.running_processes(cluster).get(CONTROL_PLANE, {}).get("pid", 0)
        files = {
            "data": [cluster.data],
            "kubeconfig": [cluster.kubeconfig],
            "certificates": sorted(cluster.certificates.glob("*.crt")),
            "keys": sorted(cluster.certificates.glob("*.key")),
            "node kubeconfigs": sorted(cluster.root.glob("nodes/*/*.kubeconfig")),
        }
    async with kubeconfig.load(source, context=options.context).client(user_agent="audit-security") as client:
        return report.judge(await collect(client, files, owners, process))
