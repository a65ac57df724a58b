"""fit: how many nodes of a shape do these pods need?"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from pybernetes.tools.what_if import shapes
from pybernetes.tools.what_if.answer import Answer
from pybernetes.tools.what_if.cluster import Cluster
from pybernetes.tools.what_if.question import Ask, Question
from pybernetes.tools.what_if.questions import _workloads
from pybernetes.tools.what_if.questions.add import add_nodes, add_shape
from pybernetes.tools.what_if.simulation import NEW, WAITING, Simulation


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this question."""
    _workloads.add_file(parser)
    add_shape(parser)
    parser.add_argument(
        "--count", type=int, metavar="N", help="as many pods of each, instead of what the file says"
    )
    parser.add_argument(
        "--empty", action="store_true", help="on new nodes only, whatever room the cluster has"
    )


def prepare(options: argparse.Namespace) -> Ask:
    """Read the file and the shape."""
    objects, shape = _workloads.read(options), shapes.parse(options.shape)

    def ask(cluster: Cluster) -> Answer:
        if options.empty:
            for name in cluster.nodes():
                for pod in cluster.pods_on(name):
                    cluster.snapshot.remove_pod(pod)
                cluster.snapshot.remove_node(name)
            cluster.waiting.clear()
        answer = Answer("fit", cluster.use())
        new = _workloads.pods(cluster, objects, options.count, answer.notes)

        def simulate(nodes: int) -> Simulation:
            simulation = Simulation(cluster, frozenset((NEW,)))
            add_nodes(cluster, simulation, shape, nodes)
            simulation.enqueue_waiting()
            _workloads.enqueue(simulation, new)
            simulation.run()
            return simulation

        def missing(nodes: int) -> int:
            simulation = simulate(nodes)
            simulation.undo()
            return _missing(simulation)

        most = len(new)
        left = missing(most)
        if left:
            nodes, answer.result = (
                1,
                f"no number of such nodes is enough: {left} of {most} pods would stay pending",
            )
        else:
            nodes = fewest(missing, most)
            words = f"{nodes} node{'s' * (nodes != 1)} of this shape"
            answer.result = f"{words} would be enough for all {most} pods"
            if nodes:
                answer.result += f"; with {nodes - 1}, {missing(nodes - 1)} would stay pending"
        return answer.finish(cluster, simulate(nodes))

    return ask


Missing = Callable[[int], int]


def _missing(simulation: Simulation) -> int:
    pods = simulation.placements.values()
    return sum(
        1 for placement in pods if not placement.node and not placement.gone and placement.cause != WAITING
    )


def fewest(missing: Missing, most: int) -> int:
    """Return the smallest number of nodes with which nothing is missing, given that with ``most`` nothing is."""
    low, high = 0, 1
    while high < most and missing(high):
        low, high = high + 1, high * 2
    high = min(high, most)
    while low < high:
        middle = (low + high) // 2
        if missing(middle):
            low = middle + 1
        else:
            high = middle
    return low


QUESTION = Question("how many nodes of a shape these pods need", add_arguments, prepare)
