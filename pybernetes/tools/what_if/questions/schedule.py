"""schedule: where would these pods go?"""

from __future__ import annotations

import argparse

from pybernetes.tools.what_if.answer import Answer
from pybernetes.tools.what_if.cluster import Cluster
from pybernetes.tools.what_if.question import Ask, Question
from pybernetes.tools.what_if.questions import _workloads
from pybernetes.tools.what_if.simulation import NEW, Simulation


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this question."""
    _workloads.add_file(parser)
    parser.add_argument(
        "--count", type=int, metavar="N", help="as many pods of each, instead of what the file says"
    )


def prepare(options: argparse.Namespace) -> Ask:
    """Read the file."""
    objects = _workloads.read(options)

    def ask(cluster: Cluster) -> Answer:
        answer = Answer("schedule", cluster.use())
        new = _workloads.pods(cluster, objects, options.count, answer.notes)
        simulation = Simulation(cluster, frozenset((NEW,)))
        simulation.enqueue_waiting()
        _workloads.enqueue(simulation, new)
        simulation.run()
        return answer.finish(cluster, simulation)

    return ask


QUESTION = Question("where these pods would go, and why", add_arguments, prepare)
