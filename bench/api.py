"""pyb bench api: how fast an API server is, measured from the outside over TLS on loopback."""

import argparse
import json
import os
import resource
import sys
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from typing import Any

from bench.harness.connection import ServerError, call
from bench.harness.kubeconfig import ConfigError, Target, load_target
from bench.harness.load import LoadError
from bench.harness.machine import CpuMeter, describe_machine, resident_megabytes
from bench.harness.phases import FULL, QUICK, Phases
from bench.harness.pods import PODS, pod_name, prepare_namespace, remove_namespace
from bench.harness.report import table
from bench.harness.server import ServerProcess
from bench.harness.wrk import WrkError

SUMMARY = "an API server: create, get, list, patch, delete, watch, memory, time to ready"

PROTOBUF = "application/vnd.kubernetes.protobuf"
FAILURES = (ConfigError, ServerError, LoadError, WrkError, OSError, RuntimeError, KeyError)


def main(argv: list[str]) -> int:
    """Run the benchmark and print a table, or one JSON object on stdout with --json."""
    options = _parser().parse_args(argv)
    try:
        return _run(options)
    except FAILURES as error:
        print(f"pyb bench api: {type(error).__name__}: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pyb bench api", description=__doc__)
    parser.add_argument("--kubeconfig", default=os.environ.get("KUBECONFIG"), help="where the server is")
    parser.add_argument("--context", help="context of the kubeconfig (default: its current one)")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    parser.add_argument("--quick", action="store_true", help="a tenth of the work; for trying it out")
    parser.add_argument("--pid", type=int, action="append", default=[], help="server process to weigh")
    parser.add_argument("--start-command", help="starts the server; measures the time until it is ready")
    parser.add_argument("--no-wrk", action="store_true", help="generate reads in Python even if wrk is there")
    parser.add_argument("--only", help="measure only what has this in its name, such as 'get'")
    parser.add_argument("--allow-remote", action="store_true", help="allow a server that is not on loopback")
    return parser


def _run(options: argparse.Namespace) -> int:
    if not options.kubeconfig:
        raise ConfigError("no kubeconfig given: use --kubeconfig FILE")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limits[1], limits[1]))
    ready: dict[str, float] = {}
    memory: dict[str, float] = {}
    with ExitStack() as stack:
        server = None
        if options.start_command:
            server = ServerProcess(options.start_command, options.kubeconfig, options.context)
            stack.enter_context(server)
            ready["as found"] = round(server.start(), 3)
        target = load_target(options.kubeconfig, options.context)
        if not target.is_loopback and not options.allow_remote:
            raise ConfigError(f"{target.host} is not on loopback; --allow-remote loads it all the same")
        result: dict[str, Any] = {
            "benchmark": "api",
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "server_version": call(target, "GET", "/version")["gitVersion"],
            "machine": describe_machine(),
            "quick": options.quick,
            "pod_bytes": 0,
            "results": {},
            "ready_seconds": ready,
            "memory_megabytes": memory,
        }
        try:
            prepare_namespace(target)
            _measure(options, target, result, server)
        finally:
            _clean_up(target)
    if options.json:
        print(table(result), file=sys.stderr)
        print(json.dumps(result))
    else:
        print(table(result))
    # Watches that the server ends are a result; requests that fail make the figures worthless.
    failed = [name for name, figures in result["results"].items() if _failed_requests(figures)]
    if failed:
        print(f"pyb bench api: requests failed in: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def _clean_up(target: Target) -> None:
    _say("cleaning up")
    try:
        remove_namespace(target)
    except FAILURES as error:
        # What was measured is worth more than this error.
        _say(f"the namespace could not be removed: {error}")


def _failed_requests(figures: dict[str, Any]) -> int:
    return figures["failures"] - figures.get("watches_ended_early", 0)


def _measure(
    options: argparse.Namespace, target: Target, result: dict[str, Any], server: ServerProcess | None
) -> None:
    size = QUICK if options.quick else FULL
    phases = Phases(target, size, not options.no_wrk)

    def step(name: str, measure: Callable[[], dict[str, Any]], needed: bool = False) -> None:
        selected = not options.only or options.only in name
        if not selected and not needed:
            return
        _say(name)
        meter = CpuMeter(pids())
        meter.begin()
        figures = measure()
        if selected:
            result["results"][name] = figures | (meter.end() if pids() else {})

    def pids() -> list[int]:
        return ([server.pid] if server else []) + options.pid

    def weigh(moment: str) -> None:
        for number, pid in enumerate(pids(), 1):
            result["memory_megabytes"][f"process {number} {moment}"] = resident_megabytes(pid)

    weigh("before")
    # Reads need the Pods, so these two are done whatever was asked for.
    step("create-1", lambda: phases.create(1), needed=True)
    step("create-16", lambda: phases.create(16), needed=True)
    weigh(f"with {size.pods} pods")
    stored = call(target, "GET", f"{PODS}/{pod_name('a', 0)}")
    result["pod_bytes"] = len(json.dumps(stored, separators=(",", ":")))
    step("get-1", lambda: phases.get(1))
    step("get-16", lambda: phases.get(16))
    step("list-500-1", lambda: phases.list_page(1))
    step("list-500-4", lambda: phases.list_page(4))
    step(f"list-{size.pods}-2", lambda: phases.list_all(2, from_cache=False))
    step(f"list-{size.pods}-cached-2", lambda: phases.list_all(2, from_cache=True))
    step(f"list-{size.pods}-protobuf-2", lambda: phases.list_all(2, from_cache=True, accept=PROTOBUF))
    step("patch-1", lambda: phases.patch(1))
    step("patch-16", lambda: phases.patch(16))
    weigh("after reads and patches")
    for number, (watchers, creates) in enumerate(size.watches):
        group = f"w{number}"
        step(f"watch-{watchers}x{creates}", partial(phases.watch, watchers, creates, group))
    weigh("after watches")
    if server is not None:
        server.stop()
        result["ready_seconds"]["with the pods"] = round(server.start(), 3)
        weigh("restarted with the pods")
    step("delete-1", lambda: phases.delete(1))
    step("delete-16", lambda: phases.delete(16))


def _say(text: str) -> None:
    print(f"… {text}", file=sys.stderr, flush=True)
