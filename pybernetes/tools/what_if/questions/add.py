"""add: what if there were more nodes?"""

from __future__ import annotations

import argparse

from pybernetes.tools.what_if import shapes
from pybernetes.tools.what_if.answer import Answer
from pybernetes.tools.what_if.cluster import Cluster
from pybernetes.tools.what_if.question import Ask, Question
from pybernetes.tools.what_if.replicas import daemon_pods
from pybernetes.tools.what_if.simulation import DAEMON, WAITING, Simulation


def add_shape(parser: argparse.ArgumentParser) -> None:
    """Add the argument of a node's shape."""
    parser.add_argument(
        "--shape", required=True, metavar="SHAPE",
        help="cpu=8,memory=32Gi and, if wanted, pods=110, other resources, label:KEY=VALUE, taint:KEY=VALUE:EFFECT",
    )  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this question."""
    add_shape(parser)
    parser.add_argument("--count", type=int, default=1, metavar="N", help="how many nodes (1)")


def prepare(options: argparse.Namespace) -> Ask:
    """Read the shape."""
    shape, count = shapes.parse(options.shape), shapes.count_of(options.count)

    def ask(cluster: Cluster) -> Answer:
        answer = Answer("add", cluster.use())
        simulation = Simulation(cluster)
        add_nodes(cluster, simulation, shape, count)
        simulation.enqueue_waiting()
        simulation.run()
        answer.finish(cluster, simulation)
        waiting = [placement for placement in answer.placements if placement.cause == WAITING]
        placed = sum(1 for placement in waiting if placement.node)
        answer.result = f"{placed} of {len(waiting)} pending pods would find a node"
        return answer

    return ask


def add_nodes(cluster: Cluster, simulation: Simulation, shape: shapes.NodeShape, count: int) -> None:
    """Add nodes of a shape, and the pods that daemon sets put on them."""
    for node in shape.nodes(cluster, count):
        simulation.set_node(node)
        for pod in daemon_pods(cluster, node.name):
            simulation.enqueue(pod, DAEMON)


QUESTION = Question("which pending pods would find room if there were more nodes", add_arguments, prepare)
