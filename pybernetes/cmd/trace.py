"""trace: show where the time went between the request for a pod and its running."""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sys
import time
from functools import partial
from typing import TYPE_CHECKING

from pybernetes.cmd import _questions

if TYPE_CHECKING:
    from pybernetes.client.client import Client
    from pybernetes.tools.trace.timeline import Trace

SUMMARY = "Show the steps of a pod's creation, each with its time, while it happens or afterwards"


def main(argv: list[str]) -> int:
    """Show a pod's creation; the exit code is 1 if it does not run yet, 2 if nothing can be told."""
    parser = argparse.ArgumentParser(prog="pyb trace", description=SUMMARY, allow_abbrev=False)
    parser.add_argument("pod", metavar="pod/NAME", help="the pod")
    parser.add_argument(
        "-f", "--follow", action="store_true", help="wait for the pod if there is none yet, and until it runs"
    )
    parser.add_argument(
        "--otlp", default="", metavar="HOST:PORT", help="send the steps as spans there, too (OTLP over gRPC)"
    )
    _questions.add_arguments(parser)
    options = parser.parse_args(argv)
    return _questions.run("pyb trace", options, partial(_show, options))


def pod_name(text: str) -> str:
    """Return the name of the pod that an argument means; ValueError if it means something else."""
    kind, slash, name = text.rpartition("/")
    if (slash and kind.lower() not in ("pod", "pods", "po")) or not name:
        raise ValueError(f"{text} is no pod: only the creation of pods is told, as in pod/NAME")
    return name


async def _show(options: argparse.Namespace, client: Client, namespace: str) -> int:
    from pybernetes.tools.trace import reading

    name = pod_name(options.pod)
    if not options.follow:
        told = await reading.read(client, namespace, name)
        _print(told, options)
    else:
        drawn = 0
        async for told in reading.follow(client, namespace, name):
            drawn = _redraw(told, options, drawn)
    if options.otlp:
        await _send(told, options.otlp)
    return int(told.phase in ("", "Pending"))


async def _send(told: Trace, endpoint: str) -> None:
    from pybernetes.lib.tracing import MILLION, Tracer, TracingSettings
    from pybernetes.tools.trace import spans

    tracer = Tracer(TracingSettings(endpoint, MILLION), {"service.name": "pyb-trace"}, "--otlp")
    spans.tell(told, tracer)
    await asyncio.to_thread(tracer.close)


def _text(told: Trace) -> str:
    from pybernetes.tools.trace import picture

    columns = shutil.get_terminal_size((120, 24)).columns
    return picture.draw(told, columns, picture.style(sys.stdout.encoding), time.time())


def _print(told: Trace, options: argparse.Namespace) -> None:
    print(json.dumps(told.as_json()) if options.output == "json" else _text(told), flush=True)


def _redraw(told: Trace, options: argparse.Namespace, drawn: int) -> int:
    """Draw over the lines of the last picture on a terminal; elsewhere one picture follows the other."""
    if options.output == "json" or not sys.stdout.isatty():
        _print(told, options)
        return 0
    text = _text(told)
    print(f"\x1b[{drawn}A\x1b[J{text}" if drawn else text, flush=True)
    return text.count("\n") + 1
