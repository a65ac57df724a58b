"""what-if: ask where pods would go in a cluster that is not there yet, without writing anything."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pybernetes.client.client import Client
    from pybernetes.client.kubeconfig import Config
    from pybernetes.control_plane.descheduler.policy import Policy
    from pybernetes.scheduling.config import Configuration
    from pybernetes.tools.what_if.cluster import Cluster
    from pybernetes.tools.what_if.question import Question

SUMMARY = "Ask where pods would go if there were more of them, fewer nodes, other nodes; nothing is written"
QUESTIONS = "pybernetes.tools.what_if.questions"


def main(argv: list[str]) -> int:
    """Answer a question; the exit code is 1 if a pod would stay pending or could not be evicted."""
    from pybernetes.lib.discover import discover
    from pybernetes.lib.memory import gc_tuning

    gc_tuning.pause()  # for good: all that is read is needed until the program ends
    questions = discover(QUESTIONS, "QUESTION")
    options = _parser(questions).parse_args(argv)
    from pybernetes.client import kubeconfig
    from pybernetes.client.errors import StatusError
    from pybernetes.lib.printable import printable
    from pybernetes.scheduling import config
    from pybernetes.tools.what_if import picture, tables

    try:
        source = kubeconfig.load(options.kubeconfig or None, context=options.context)
        options.namespace = options.namespace or source.namespace
        configuration = config.load(Path(options.config)) if options.config else None
        question = questions[options.question]
        ask = question.prepare(options)
        policy = _policy(options.policy) if question.asks_descheduler else None
        cluster, options.evictions = asyncio.run(_read(source, configuration, policy))
        answer = ask(cluster)
    except (StatusError, ValueError, OSError, RuntimeError) as error:
        print(f"pyb what-if: {printable(str(error))}", file=sys.stderr)
        return 2
    if options.output == "json":
        print(json.dumps(answer.as_json(), indent=2))
    else:
        coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        style = picture.style(sys.stdout.encoding, coloured)
        print(tables.text(answer, shutil.get_terminal_size((100, 24)).columns, style))
    return int(bool(answer.pending or answer.blocked))


def _parser(questions: dict[str, Question]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pyb what-if", description=SUMMARY, allow_abbrev=False)
    commands = parser.add_subparsers(dest="question", required=True, metavar="QUESTION")
    for name, question in questions.items():
        command = commands.add_parser(
            name, help=question.summary, description=question.summary, allow_abbrev=False
        )
        question.add_arguments(command)
        command.add_argument("--kubeconfig", default="", help="where the cluster is")
        command.add_argument("--context", default="", help="context of the kubeconfig")
        command.add_argument("-n", "--namespace", default="", help="namespace of what does not name one")
        command.add_argument("-o", "--output", choices=("table", "json"), default="table")
        command.add_argument(
            "--config", default="", metavar="FILE", help="the scheduler's KubeSchedulerConfiguration"
        )
    return parser


def _policy(path: str) -> Policy:
    from pybernetes.control_plane.descheduler import policy

    return policy.load(Path(path))


async def _read(
    source: Config, configuration: Configuration | None, policy: Policy | None
) -> tuple[Cluster, list[tuple[str, str]]]:
    """Read the cluster, and with a policy, ask the descheduler what it would evict."""
    from pybernetes.tools.what_if import reading

    async with source.client(user_agent="what-if") as client:
        evictions = [] if policy is None else await descheduler_evictions(client, policy)
        return await reading.read(client, configuration), evictions


async def descheduler_evictions(client: Client, policy: Policy) -> list[tuple[str, str]]:
    """Return the pods that the descheduler would evict by a policy, and the plugin that says so; none is evicted."""
    from pybernetes.control_plane.descheduler.descheduler import Descheduler

    descheduler = Descheduler(client, policy, dry_run=True)
    async with descheduler.following():
        evictions = await descheduler.run_once()
    return [(eviction.record.pod.key, eviction.strategy) for eviction in evictions]
