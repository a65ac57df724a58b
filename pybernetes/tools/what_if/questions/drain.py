"""drain: what if these nodes were drained?"""

from __future__ import annotations

import argparse

from pybernetes.scheduling.disruption_budgets import EvictionBudgets
from pybernetes.scheduling.pods import Pod
from pybernetes.tools.what_if.answer import Answer
from pybernetes.tools.what_if.cluster import Cluster
from pybernetes.tools.what_if.question import Ask, Question
from pybernetes.tools.what_if.questions._leaving import known_nodes, stays
from pybernetes.tools.what_if.simulation import EVICTED, Placement, Simulation


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this question."""
    parser.add_argument("nodes", nargs="+", metavar="NODE")


def prepare(options: argparse.Namespace) -> Ask:
    """Return the question about the named nodes."""

    def ask(cluster: Cluster) -> Answer:
        answer = Answer("drain", cluster.use())
        names = known_nodes(cluster, options.nodes)
        simulation = Simulation(cluster)
        for name in names:
            node = cluster.snapshot.node(name)
            assert node is not None
            simulation.set_node(node._replace(unschedulable=True))
        leaving = [pod for name in names for pod in cluster.pods_on(name) if not stays(cluster, pod)]
        _note(cluster, leaving, answer)
        left = evict(cluster, simulation, leaving)
        answer.blocked = [(pod.key, pod.node, why) for pod, why in left]
        answer.finish(cluster, simulation)
        gone = f"{len(names)} node{'s' * (len(names) > 1)}"
        answer.result = f"{gone} would be drained" if not left else f"the drain of {gone} would not end"
        return answer

    return ask


def evict(cluster: Cluster, simulation: Simulation, pods: list[Pod]) -> list[tuple[Pod, str]]:
    """Evict pods as their budgets allow, again when replacements are ready; return those that can never go, and why."""
    budgets = EvictionBudgets(cluster.listers.all("poddisruptionbudgets"))
    left = [(pod, "") for pod in pods]
    simulation.enqueue_waiting()
    while True:
        held: list[tuple[Pod, str]] = []
        moved: list[Placement] = []
        for pod, _ in left:
            why = refusal(budgets, cluster, pod)
            if why:
                held.append((pod, why))
            else:
                moved.append(simulation.replace(pod, EVICTED))
        simulation.run()
        for placement in moved:
            if placement.node:
                budgets.replaced(placement.pod)
        if not held or not moved:
            return held
        left = held


def refusal(budgets: EvictionBudgets, cluster: Cluster, pod: Pod) -> str:
    """Return why a pod may not be evicted now; if nothing speaks against it, count it as evicted."""
    inputs = cluster.inputs_of(pod)
    answer = budgets.evict(pod, guarded=inputs.running and not pod.deleting, ready=inputs.ready)
    return "" if answer is None else f"{answer.message} {answer.cause}".rstrip()


def _note(cluster: Cluster, leaving: list[Pod], answer: Answer) -> None:
    bare = [pod.key for pod in leaving if pod.shape.owner is None]
    scratch = [pod.key for pod in leaving if cluster.inputs_of(pod).scratch]
    if bare:
        answer.notes.append(f"kubectl drain needs --force: no controller has {_some(bare)}")
    if scratch:
        answer.notes.append(
            f"kubectl drain needs --delete-emptydir-data: local data is lost of {_some(scratch)}"
        )


def _some(names: list[str], limit: int = 5) -> str:
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


QUESTION = Question(
    "where the pods of these nodes would go, within disruption budgets", add_arguments, prepare
)
