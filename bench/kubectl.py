"""pyb bench kubectl: how long our kubectl and the real one take for the same command lines, measured with hyperfine."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SUMMARY = "our kubectl beside the real one: pyb bench kubectl [--kubeconfig FILE]"
LAUNCHER = Path(__file__).resolve().parents[1] / "pyb"
LINES = ("get pods", "get pods -A -o wide", "get nodes -o yaml", "describe nodes", "version --client")


def main(argv: list[str]) -> int:
    """Measure each command line with both and print a table."""
    parser = argparse.ArgumentParser(prog="pyb bench kubectl", description=__doc__)
    parser.add_argument("--kubeconfig", default=os.environ.get("KUBECONFIG", ""), help="the cluster to ask")
    parser.add_argument(
        "--kubectl", default="kubectl", help="the real kubectl (default: the one on the path)"
    )
    parser.add_argument("--runs", type=int, default=20, help="how often each command runs")
    parser.add_argument("lines", nargs="*", help="command lines to measure instead of the usual ones")
    options = parser.parse_args(argv)
    for program, package in (("hyperfine", "hyperfine"), (options.kubectl, "kubernetes-client")):
        if shutil.which(program) is None:
            print(f"pyb bench kubectl: {program} is missing: apt-get install {package}", file=sys.stderr)
            return 1
    if options.kubeconfig:
        os.environ["KUBECONFIG"] = options.kubeconfig
    print(f"{'command line':<28}{'ours ms':>10}{'real ms':>10}{'ours cpu':>10}{'real cpu':>10}{'ratio':>8}")
    for line in options.lines or LINES:
        ours, real = measure(line, options.kubectl, options.runs)
        print(
            f"{line:<28}{_ms(ours['median'])}{_ms(real['median'])}{_ms(ours['user'] + ours['system'])}"
            f"{_ms(real['user'] + real['system'])}{ours['median'] / real['median']:>8.2f}"
        )
    return 0


def measure(line: str, kubectl: str, runs: int) -> list[dict[str, Any]]:
    """Return what hyperfine says about both: ours, then the real one."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        command = ["hyperfine", "-N", "--warmup", "3", "--runs", str(runs), "--export-json", str(result)]
        subprocess.run(
            [*command, f"{LAUNCHER} kubectl {line}", f"{kubectl} {line}"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        return json.loads(result.read_text())["results"]


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:>10.1f}"
