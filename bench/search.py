"""pyb bench search: how long the dashboard's search takes, and the memory of its index; no server is involved."""

from __future__ import annotations

import argparse
import json
import resource
import time
from statistics import median

from bench.harness.machine import describe_machine

SUMMARY = "the dashboard's search: milliseconds per query and memory with many objects"
# What people type: a letter, a word that nearly all objects have, a name, an address, an image, two words, nothing at all.
_QUERIES = ("w", "web", "web-1234", "web-49999", "10.12.34", "nginx:1.27", "tier=backend team-7", "kind:pods ns:team-3 web",
            "replicaset/web-77", "no-such-thing-anywhere")  # fmt: skip


def main(argv: list[str]) -> int:
    """Measure and print a line for each query, or one JSON object with --json."""
    parser = argparse.ArgumentParser(prog="pyb bench search", description=__doc__)
    parser.add_argument("--objects", type=int, default=50_000)
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    options = parser.parse_args(argv)
    results = measure(options.objects)
    if options.json:
        print(
            json.dumps(
                {
                    "benchmark": "search",
                    "objects": options.objects,
                    "machine": describe_machine(),
                    "results": results,
                }
            )
        )
        return 0
    for name, value in results.items():
        print(f"{name:>30}  {value:8.2f}")
    return 0


def measure(objects: int) -> dict[str, float]:
    """Return the median of the milliseconds of each query, of a change and the search after it, and memory."""
    from pybernetes.tools.dashboard.search_fields import fields
    from pybernetes.tools.dashboard.search_index import Key, SearchIndex, text_of

    index = SearchIndex()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.perf_counter()
    for number in range(objects):
        pod = _pod(number)
        meta = pod["metadata"]
        index.put(Key("pods", str(meta["namespace"]), str(meta["name"])), text_of(fields("pods", pod)))
    results = {"milliseconds to build": (time.perf_counter() - begin) * 1000}
    index.search("no-such-thing-anywhere")  # joins every block
    results["megabytes"] = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    for query in _QUERIES:
        results[query] = median(_milliseconds(index, query) for _ in range(11))
    changes = []
    for number in range(0, 1000, 100):
        pod = _pod(number)
        meta = pod["metadata"]
        index.put(Key("pods", str(meta["namespace"]), str(meta["name"])), text_of(fields("pods", pod)))
        changes.append(_milliseconds(index, "10.12.34"))
    results["10.12.34 after a change"] = median(changes)
    return results


def _milliseconds(index: object, query: str) -> float:
    begin = time.perf_counter()
    index.search(query)  # type: ignore[attr-defined]
    return (time.perf_counter() - begin) * 1000


def _pod(number: int) -> dict[str, dict[str, object]]:
    name = f"web-{number // 10}-{number:05x}"
    return {
        "metadata": {
            "name": name, "namespace": f"team-{number % 50}", "uid": f"{number:08x}-3c1f-4a5e-9d2b-0123456789ab",
            "labels": {"app": f"web-{number // 10}", "tier": "backend" if number % 3 else "frontend",
                       "pod-template-hash": f"{number // 10:08x}"},
            "annotations": {"example.com/checksum": f"{number * 7919:032x}"},
            "ownerReferences": [{"kind": "ReplicaSet", "name": f"web-{number // 10}"}],
        },
        "spec": {"nodeName": f"node-{number % 1000}", "containers": [{"image": f"registry.example/team/nginx:1.{number % 30}"}]},
        "status": {"phase": "Running", "podIPs": [{"ip": f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"}]},
    }  # fmt: skip
