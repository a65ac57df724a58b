"""lose: what if these nodes, or whole zones, were gone?"""

from __future__ import annotations

import argparse

from pybernetes.tools.what_if.answer import Answer
from pybernetes.tools.what_if.cluster import Cluster
from pybernetes.tools.what_if.question import Ask, Question
from pybernetes.tools.what_if.questions._leaving import nodes_or_zones, stays
from pybernetes.tools.what_if.simulation import LOST, Simulation


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this question."""
    parser.add_argument("names", nargs="+", metavar="NODE|ZONE", help="nodes, zones or regions")


def prepare(options: argparse.Namespace) -> Ask:
    """Return the question about the named nodes and zones."""

    def ask(cluster: Cluster) -> Answer:
        answer = Answer("lose", cluster.use())
        names = nodes_or_zones(cluster, options.names)
        simulation = Simulation(cluster)
        simulation.enqueue_waiting()
        lost = []
        for name in names:
            for pod in cluster.pods_on(name):
                simulation.take_off(pod)
                if not stays(cluster, pod):
                    lost.append(pod)
            simulation.remove_node(name)
        for pod in lost:
            simulation.recreate(pod, LOST)
        simulation.run()
        answer.finish(cluster, simulation)
        answer.result = f"{len(names)} of {len(answer.before)} nodes would be gone, with {len(lost)} pods"
        return answer

    return ask


QUESTION = Question("what would become of the pods if nodes or zones were gone", add_arguments, prepare)
