"""pyb bench authz: what an authorization check costs in a cluster with many bindings, inside the API server."""

import argparse
import asyncio
import gc
import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import orjson

from pybernetes.api.registry import builtin
from pybernetes.control_plane.apiserver.assembly.server_context import new_context
from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.authz.authorization import Authorization
from pybernetes.control_plane.apiserver.authz.bootstrap_policy.reconcile import reconcile
from pybernetes.control_plane.apiserver.authz.modes import node, rbac
from pybernetes.control_plane.apiserver.request_info import RequestInfo
from pybernetes.control_plane.apiserver.storage.kinds import Kinds
from pybernetes.control_plane.apiserver.storage.resource_version import stamp
from pybernetes.control_plane.store.open import open_store

SUMMARY = "authorization: microseconds for a check among thousands of bindings; needs no server"
ROLES = 250
GROUP = "rbac.authorization.k8s.io"
Question = tuple[User, RequestInfo]


def main(argv: list[str]) -> int:
    """Measure and print a table, or one JSON object with --json; fail when the average is over the limit."""
    parser = argparse.ArgumentParser(prog="pyb bench authz", description=__doc__)
    parser.add_argument("--bindings", type=int, default=5000, help="how many bindings there are")
    parser.add_argument("--checks", type=int, default=20_000, help="how many checks of each sort to measure")
    parser.add_argument("--limit", type=float, default=50.0, help="most microseconds on average")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    options = parser.parse_args(argv)
    figures = asyncio.run(_measure(options.bindings, options.checks))
    average = statistics.mean(figures.values())
    if options.json:
        print(json.dumps({"bindings": options.bindings, "average": average, "microseconds": figures}))
    else:
        for name, figure in figures.items():
            print(f"{name:<44}{figure:8.2f} µs")
        print(f"{'average':<44}{average:8.2f} µs")
    if average > options.limit:
        print(f"pyb bench authz: over the limit of {options.limit} µs", file=sys.stderr)
        return 1
    return 0


async def _measure(bindings: int, checks: int) -> dict[str, float]:
    store = open_store("memory", stamp=stamp)
    await store.start()
    context = new_context(store, Kinds(builtin()))
    chain = Authorization([node.NodeAuthorizer(context), rbac.RbacAuthorizer(context)])
    await reconcile(context)
    for key, value in cluster(bindings):
        await store.create(key, orjson.dumps({"kind": "", "apiVersion": "", **value}))
    context.roles.start()
    chain.start()
    figures = {}
    for name, make in SORTS.items():
        generator = random.Random(1)
        questions = [make(generator, bindings) for _ in range(min(checks, 1000))]
        figures[name] = _time(chain, questions, checks)
    await store.close()
    return figures


def _time(chain: Authorization, questions: list[Question], checks: int) -> float:
    """Return the microseconds of a check; a first round finds out whether all are answered alike."""
    verdicts = {chain.authorize(*question).allowed for question in questions}  # type: ignore[union-attr]
    assert len(verdicts) == 1, "the questions of a sort must have one answer"
    gc.collect()
    # Time of this process alone, and the median round: what others do on the machine is not to be measured.
    rounds = []
    for _ in range(max(3, checks // len(questions))):
        begin = time.process_time()
        for user, info in questions:
            chain.authorize(user, info)
        rounds.append((time.process_time() - begin) / len(questions) * 1e6)
    return statistics.median(rounds)


def cluster(bindings: int) -> list[tuple[str, dict[str, Any]]]:
    """Return roles of ten rules each, and bindings: a third in the cluster, two thirds in namespaces, one group with many."""
    objects: list[tuple[str, dict[str, Any]]] = []
    for number in range(ROLES):
        rules = [
            {
                "verbs": ["get", "list", "watch"],
                "apiGroups": ["apps"],
                "resources": [f"things{number}-{rule}"],
            }
            for rule in range(10)
        ]
        objects.append(
            (f"/registry/clusterroles/r{number}", {"metadata": {"name": f"r{number}"}, "rules": rules})
        )
    for number in range(bindings):
        subject: dict[str, str] = [
            {"kind": "User", "name": f"user{number}"},
            {"kind": "Group", "name": f"group{number % 97}"},
            {"kind": "ServiceAccount", "name": f"account{number}", "namespace": f"ns{number % 500}"},
        ][number % 3]
        namespace = "" if number % 3 == 2 else f"ns{number % 500}"
        subjects = [subject] if number % 5 else [subject, {"kind": "Group", "name": "everywhere"}]
        place = f"rolebindings/{namespace}/b{number}" if namespace else f"clusterrolebindings/b{number}"
        role = {"apiGroup": GROUP, "kind": "ClusterRole", "name": f"r{number % ROLES}"}
        metadata = {"name": f"b{number}", "namespace": namespace}
        objects.append((f"/registry/{place}", {"metadata": metadata, "roleRef": role, "subjects": subjects}))
    return objects


def _request_info(number: int, namespace: str, verb: str = "get") -> RequestInfo:
    return RequestInfo(
        verb,
        is_resource=True,
        group="apps",
        resource=f"things{number % ROLES}-7",
        namespace=namespace,
        name="x",
    )


def _user(generator: random.Random, bindings: int) -> Question:
    number = generator.randrange(0, bindings, 3)
    user = User(f"user{number}", groups=("one", "two", "three", "system:authenticated"))
    return user, _request_info(number, f"ns{number % 500}")


def _account(generator: random.Random, bindings: int) -> Question:
    number = generator.randrange(2, bindings, 3)
    home = f"ns{number % 500}"
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{home}", "system:authenticated")
    return User(f"system:serviceaccount:{home}:account{number}", groups=groups), _request_info(number, home)


def _refused(generator: random.Random, bindings: int) -> Question:
    user, info = _user(generator, bindings)
    return user, _request_info(0, info.namespace, verb="delete")


def _many_groups(generator: random.Random, bindings: int) -> Question:
    groups = (*(f"group{number}" for number in generator.sample(range(97), 12)), "system:authenticated")
    return User("somebody", groups=groups), _request_info(0, f"ns{generator.randrange(500)}", verb="delete")


def _many_bindings(generator: random.Random, bindings: int) -> Question:
    number = generator.randrange(5, bindings, 15)
    return User("somebody", groups=("everywhere", "system:authenticated")), _request_info(number, "elsewhere")


def _controller(generator: random.Random, bindings: int) -> Question:
    groups = ("system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated")
    user = User("system:serviceaccount:kube-system:deployment-controller", groups=groups)
    return user, RequestInfo(
        "update", is_resource=True, group="apps", resource="deployments", subresource="status",
        namespace=f"ns{generator.randrange(500)}", name="x",
    )  # fmt: skip


def _discovery(generator: random.Random, bindings: int) -> Question:
    return User("somebody", groups=("system:authenticated",)), RequestInfo("get", "/apis/apps/v1")


SORTS: dict[str, Callable[[random.Random, int], Question]] = {
    "a user in a namespace": _user,
    "a service account in the cluster": _account,
    "a controller": _controller,
    "discovery": _discovery,
    "a group with bindings to every fifth role": _many_bindings,
    "refused": _refused,
    "refused, thirteen groups": _many_groups,
}
