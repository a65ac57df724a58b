"""Generates reads with wrk, which costs less per request than any loop in Python."""

import json
import os
import resource
import shutil
import subprocess
from pathlib import Path
from typing import Any

from bench.harness.kubeconfig import Target

SCRIPT = Path(__file__).with_name("wrk.lua")


class WrkError(Exception):
    """wrk did not run to its end."""


def wrk_can_serve(target: Target) -> bool:
    """Tell whether wrk is installed and able to authenticate: it has no client certificates."""
    return shutil.which("wrk") is not None and not target.has_certificate


def run_wrk(
    target: Target,
    path: str,
    connections: int,
    seconds: float,
    numbers: int = 0,
    accept: str = "application/json",
) -> dict[str, Any]:
    """Read a path for some seconds; `%06d` in it stands for each of the numbers from 0 in turn."""
    duration = max(1, round(seconds))
    command = ["wrk", "-t", "1", "-c", str(connections), "-d", f"{duration}s", "--timeout", "60s"]
    command += ["-s", str(SCRIPT), f"https://{target.host}:{target.port}"]
    settings = {
        "BENCH_TOKEN": target.token,
        "BENCH_PATH": path,
        "BENCH_NUMBERS": str(numbers),
        "BENCH_ACCEPT": accept,
    }
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command, env={**os.environ, **settings}, capture_output=True, text=True, timeout=duration + 120
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise WrkError(done.stderr.strip() or done.stdout.strip())
    result = json.loads(done.stdout.strip().splitlines()[-1])
    result["busy_seconds"] = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return result
