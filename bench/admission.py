"""pyb bench admission: what the built-in admission plugins cost a new Pod, inside the API server."""

import argparse
import asyncio
import gc
import json
import sys
import time
from typing import Any

import orjson

from pybernetes.api.core.pod.pod import RESOURCE
from pybernetes.api.registry import builtin
from pybernetes.api.scheduling.priorityclass import system_classes
from pybernetes.control_plane.apiserver.admission.attributes import CREATE, Attributes
from pybernetes.control_plane.apiserver.admission.chain import Chain
from pybernetes.control_plane.apiserver.admission.setup import flags, select
from pybernetes.control_plane.apiserver.assembly.bootstrap import ensure
from pybernetes.control_plane.apiserver.assembly.server_context import new_context
from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.storage.kinds import Kinds
from pybernetes.control_plane.apiserver.storage.resource_version import stamp
from pybernetes.control_plane.store.open import open_store
from pybernetes.lib.flags import defaults

SUMMARY = "admission: microseconds of the default plugins for a Pod; needs no server"
NAMESPACE = "bench"
ROUNDS = 5
USER = User("admin")
LIMIT_RANGE = {"limits": [{"type": "Container", "default": {"cpu": "1"}, "max": {"memory": "1Gi"}}]}
HARD = {"pods": "1000000", "requests.cpu": "1000000"}
POD = orjson.dumps(
    {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": "web", "namespace": NAMESPACE, "labels": {"app": "web"}},
        "spec": {
            "containers": [
                {
                    "name": "web",
                    "image": "registry.example/shop/frontend:2.14.1",
                    "ports": [{"containerPort": 80, "protocol": "TCP"}],
                    "resources": {
                        "requests": {"cpu": "100m", "memory": "128Mi"},
                        "limits": {"memory": "256Mi"},
                    },
                }
            ],
            "restartPolicy": "Always",
            "securityContext": {},
        },
    }
)
# What is in the namespace: its labels, and what else there is.
SORTS: dict[str, tuple[dict[str, str], list[tuple[str, dict[str, Any]]]]] = {
    "plain namespace": ({}, []),
    "restricted namespace (warnings)": ({"pod-security.kubernetes.io/warn": "restricted"}, []),
    "limit range": ({}, [("limitranges", {"spec": LIMIT_RANGE})]),
    "quota": (
        {},
        [
            (
                "resourcequotas",
                {"spec": {"hard": HARD}, "status": {"hard": HARD, "used": {name: "0" for name in HARD}}},
            )
        ],
    ),
}


def main(argv: list[str]) -> int:
    """Measure and print a table, or one JSON object with --json; fail when a plain Pod is over the limit."""
    parser = argparse.ArgumentParser(prog="pyb bench admission", description=__doc__)
    parser.add_argument(
        "--pods", type=int, default=5000, help="how many Pods to measure in each of five rounds"
    )
    parser.add_argument("--limit", type=float, default=40.0, help="most microseconds for a plain namespace")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    options = parser.parse_args(argv)
    figures = {name: asyncio.run(_measure(*sort, options.pods)) for name, sort in SORTS.items()}
    if options.json:
        print(json.dumps({"microseconds": figures}))
    else:
        for name, figure in figures.items():
            print(f"{name:<44}{figure:8.2f} µs")
    if figures["plain namespace"] > options.limit:
        print(f"pyb bench admission: over the limit of {options.limit} µs", file=sys.stderr)
        return 1
    return 0


async def _measure(labels: dict[str, str], objects: list[tuple[str, dict[str, Any]]], pods: int) -> float:
    """Return the best of some rounds, because whatever else the machine does only adds."""
    store = open_store("memory", stamp=stamp)
    await store.start()
    context = new_context(store, Kinds(builtin()))
    chain = Chain([make(context) for make in select(defaults(flags()))])
    await ensure(context, "", "namespaces", "", {"metadata": {"name": NAMESPACE, "labels": labels}})
    await ensure(context, "", "serviceaccounts", NAMESPACE, {"metadata": {"name": "default"}})
    for priority_class in system_classes():
        await ensure(context, "scheduling.k8s.io", "priorityclasses", "", priority_class)
    for plural, obj in objects:
        await ensure(context, "", plural, NAMESPACE, {"metadata": {"name": "it"}, **obj}, keep_status=True)
    best = min([await _round(chain, pods) for _ in range(ROUNDS)])
    await store.close()
    return best


async def _round(chain: Chain, pods: int) -> float:
    objects = [orjson.loads(POD) for _ in range(pods)]
    gc.collect()
    gc.disable()  # as it rests in the server, too
    begin = time.thread_time()  # what others do on the machine does not count
    for pod in objects:
        attributes = Attributes(CREATE, RESOURCE, NAMESPACE, "web", pod, None, USER)
        await chain.mutate(attributes)
        await chain.validate(attributes)
    seconds = time.thread_time() - begin
    gc.enable()
    return seconds / pods * 1e6
