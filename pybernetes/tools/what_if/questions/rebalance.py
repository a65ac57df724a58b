"""rebalance: what would the descheduler move, and would that be better?"""

from __future__ import annotations

import argparse

from pybernetes.scheduling.pods import Pod
from pybernetes.tools.what_if.answer import Answer
from pybernetes.tools.what_if.cluster import Cluster
from pybernetes.tools.what_if.question import Ask, Question
from pybernetes.tools.what_if.simulation import EVICTED, Simulation

# Their controllers make another pod as soon as one begins to end; others wait until it is gone.
_AT_ONCE = ("ReplicaSet", "ReplicationController")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this question."""
    parser.add_argument("--policy", required=True, metavar="FILE", help="the descheduler's DeschedulerPolicy")


def prepare(options: argparse.Namespace) -> Ask:
    """Return the question about the moves that ``options.evictions`` has: keys of pods and whose idea it was."""

    def ask(cluster: Cluster) -> Answer:
        answer = Answer("rebalance", cluster.use())
        simulation = Simulation(cluster)
        there = {pod.key: pod for _, pod in cluster.snapshot.placed()}
        strategies: dict[str, int] = {}
        roomless = 0
        for key, strategy in options.evictions:
            strategies[strategy] = strategies.get(strategy, 0) + 1
            if key in there:
                move(simulation, there[key])
            else:
                roomless += 1
        answer.finish(cluster, simulation)
        moved = sum(1 for placement in answer.placed if placement.node != placement.was_on)
        answer.result = (
            f"the descheduler would evict {len(options.evictions)} pods, {moved} would go to another node"
        )
        answer.notes += [f"{strategy} would evict {count}" for strategy, count in sorted(strategies.items())]
        if roomless:
            answer.notes.append(f"taking no room, because they have ended or have gone by now: {roomless}")
        return answer

    return ask


def move(simulation: Simulation, pod: Pod) -> None:
    """Evict a pod and let another one look for a node, at a time when the first still has its place, as is usual."""
    owner = pod.shape.owner
    if owner is not None and owner.kind in _AT_ONCE:
        ending = simulation.mark_deleting(pod)
        simulation.recreate(pod, EVICTED, beside=True)
        simulation.run()
        simulation.take_off(ending)
    else:
        simulation.replace(pod, EVICTED)
        simulation.run()


QUESTION = Question(
    "what the descheduler would move, and the balance before and after",
    add_arguments,
    prepare,
    asks_descheduler=True,
)
