"""trace: show where the time went between the request for a pod and its running."""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import shutil
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pybernetes.client.kubeconfig import Config
    from pybernetes.tools.trace.timeline import Trace

SUMMARY = "Show the steps of a pod's creation, each with its time, while it happens or afterwards"


def main(argv: list[str]) -> int:
    """Show a pod's creation; the exit code is 1 if it does not run yet, 2 if nothing can be told."""
    options = _parser().parse_args(argv)
    if isinstance(sys.stdout, io.TextIOWrapper):  # names and messages may have what a terminal does not
        sys.stdout.reconfigure(errors="backslashreplace")
    from pybernetes.client import kubeconfig
    from pybernetes.client.errors import StatusError
    from pybernetes.lib.printable import printable

    try:
        source = kubeconfig.load(options.kubeconfig or None, context=options.context)
        return asyncio.run(_show(source, options))
    except (StatusError, ValueError, OSError) as error:
        print(f"pyb trace: {printable(str(error))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pyb trace", description=SUMMARY, allow_abbrev=False)
    parser.add_argument("pod", metavar="pod/NAME", help="the pod")
    parser.add_argument("-n", "--namespace", default="", help="namespace of the pod")
    parser.add_argument(
        "-f", "--follow", action="store_true", help="wait for the pod if there is none yet, and until it runs"
    )
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table")
    parser.add_argument(
        "--otlp", default="", metavar="HOST:PORT", help="send the steps as spans there, too (OTLP over gRPC)"
    )
    parser.add_argument("--kubeconfig", default="", help="where the cluster is")
    parser.add_argument("--context", default="", help="context of the kubeconfig")
    return parser


def pod_name(text: str) -> str:
    """Return the name of the pod that an argument means; ValueError if it means something else."""
    kind, slash, name = text.rpartition("/")
    if (slash and kind.lower() not in ("pod", "pods", "po")) or not name:
        raise ValueError(f"{text} is no pod: only the creation of pods is told, as in pod/NAME")
    return name


async def _show(source: Config, options: argparse.Namespace) -> int:
    from pybernetes.tools.trace import reading

    name, namespace = pod_name(options.pod), options.namespace or source.namespace
    async with source.client(user_agent="trace") as client:
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
