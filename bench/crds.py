"""pyb bench crds: what custom resource definitions that come and go cost requests for other kinds, and memory."""

import argparse
import http.client
import json
import sys
import time
from typing import Any

from bench.harness.connection import open_socket
from bench.harness.kubeconfig import Target, load_target
from bench.harness.machine import describe_machine, processor_seconds, resident_megabytes

SUMMARY = (
    "crds: 500 definitions made, used and deleted; unrelated requests and memory before, during and after"
)
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MAPS = "/api/v1/namespaces/default/configmaps"
Object = dict[str, Any]
SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "minimum": 1},
                "name": {"type": "string", "maxLength": 64, "default": "none"},
                "ports": {
                    "type": "array",
                    "maxItems": 16,
                    "items": {"type": "object", "properties": {"port": {"type": "integer"}}},
                },
            },
            "x-kubernetes-validations": [{"rule": "self.size < 100 || self.name != 'none'"}],
        },
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}


class Connection:
    """One connection that is used for everything."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._http = http.client.HTTPSConnection(target.host, target.port, timeout=60)
        self._http.sock = open_socket(target, 60)

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """One request."""
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._target.token}"}
        self._http.request(method, path, None if body is None else json.dumps(body), headers)
        response = self._http.getresponse()
        return response.status, json.loads(response.read() or b"null")


def definition(number: int) -> Object:
    """A definition of a kind of its own."""
    kind = f"Bench{number}"
    return {
        "metadata": {"name": f"bench{number}s.bench{number % 10}.example.com"},
        "spec": {
            "group": f"bench{number % 10}.example.com",
            "scope": "Namespaced",
            "names": {"plural": f"bench{number}s", "singular": kind.lower(), "kind": kind},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": SCHEMA},
                }
            ],
        },
    }


def _place(made: Object) -> str:
    """Where the objects of a definition are."""
    spec = made["spec"]
    return f"/apis/{spec['group']}/v1/namespaces/default/{spec['names']['plural']}"


def main(argv: list[str]) -> int:
    """Measures and prints a table, or one JSON object with --json; fails when a limit is exceeded."""
    parser = argparse.ArgumentParser(prog="pyb bench crds", description=__doc__)
    parser.add_argument("--kubeconfig", required=True, help="the cluster; its context needs a token")
    parser.add_argument("--pid", type=int, required=True, help="process of the API server")
    parser.add_argument("--definitions", type=int, default=500)
    parser.add_argument("--requests", type=int, default=2000, help="unrelated requests in each measurement")
    parser.add_argument("--limit", type=float, default=10.0, help="most percent by which they may be slower")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    options = parser.parse_args(argv)
    target = load_target(options.kubeconfig)
    figures = Bench(Connection(target), options.pid, options.definitions, options.requests).run()
    if options.json:
        print(json.dumps({"benchmark": "crds", "machine": describe_machine(), "results": figures}))
    else:
        for name, figure in figures.items():
            print(f"{name:<66}{figure:10.2f}")
    slower = max(value for name, value in figures.items() if name.startswith("slower"))
    if slower > options.limit:
        print(f"pyb bench crds: unrelated requests are {slower:.1f} % slower", file=sys.stderr)
        return 1
    return 0


class Bench:
    """One run: a quiet server, definitions with objects, and a quiet server again, twice."""

    def __init__(self, connection: Connection, pid: int, definitions: int, requests: int) -> None:
        self._connection, self._pid = connection, pid
        self._definitions, self._requests = definitions, requests

    def run(self) -> dict[str, float]:
        """Everything, and what came of it."""
        self._call("POST", MAPS, {"metadata": {"name": "bench"}, "data": {"a": "b"}}, (201, 409))
        self._unrelated()  # warms up
        read, write = self._unrelated()
        memory = [resident_megabytes(self._pid)]
        seconds, during = self._make()
        many_read, many_write = self._unrelated()
        custom = min(self._timed(lambda: self._read(f"{_place(definition(0))}/a")) for _ in range(3))
        held = resident_megabytes(self._pid)
        self._remove()
        after_read, after_write = self._unrelated()
        memory.append(resident_megabytes(self._pid))
        self._make()
        self._remove()
        memory.append(resident_megabytes(self._pid))
        self._call("DELETE", f"{MAPS}/bench", None, (200,))
        return {
            "definitions made and used, per second": self._definitions / seconds,
            "GET of a ConfigMap, before (CPU µs of the server)": read,
            "GET, with all definitions": many_read,
            "GET of a custom resource": custom,
            "GET, after their deletion": after_read,
            "POST and DELETE of a ConfigMap, before (CPU µs)": write,
            "POST and DELETE, with all definitions": many_write,
            "POST and DELETE, after their deletion": after_write,
            "GET while definitions are made: median ms": during,
            "slower GET with all definitions, percent": 100 * (many_read / read - 1),
            "slower GET after their deletion, percent": 100 * (after_read / read - 1),
            "slower POST and DELETE with all definitions, percent": 100 * (many_write / write - 1),
            "slower POST and DELETE after their deletion, percent": 100 * (after_write / write - 1),
            "MB before": memory[0],
            "MB with all definitions": held,
            "MB after the first round": memory[1],
            "MB after the second round": memory[2],
        }

    def _call(self, method: str, path: str, body: Any, accept: tuple[int, ...]) -> Any:
        status, answer = self._connection.call(method, path, body)
        if status not in accept:
            raise RuntimeError(f"{method} {path}: {status}: {answer}")
        return answer

    def _unrelated(self) -> tuple[float, float]:
        """CPU microseconds of the server for a read, and for a creation with a deletion; the best of three."""
        found = [(self._timed(self._read), self._timed(self._write)) for _ in range(3)]
        return min(read for read, _ in found), min(write for _, write in found)

    def _timed(self, work: Any) -> float:
        begin = processor_seconds(self._pid)
        count = work()
        return (processor_seconds(self._pid) - begin) / count * 1e6

    def _read(self, path: str = f"{MAPS}/bench") -> int:
        for _ in range(self._requests):
            self._call("GET", path, None, (200,))
        return self._requests

    def _write(self) -> int:
        count = self._requests // 4
        for number in range(count):
            self._call("POST", MAPS, {"metadata": {"name": f"bench-{number}"}, "data": {"a": "b"}}, (201,))
            self._call("DELETE", f"{MAPS}/bench-{number}", None, (200,))
        return count

    def _make(self) -> tuple[float, float]:
        """Makes and uses every definition; gives the seconds, and how long others waited meanwhile."""
        begin = time.perf_counter()
        waits = []
        for number in range(self._definitions):
            made = definition(number)
            self._call("POST", DEFINITIONS, made, (201,))
            start = time.perf_counter()
            self._call("GET", f"{MAPS}/bench", None, (200,))
            waits.append(time.perf_counter() - start)
            self._use(made)
        return time.perf_counter() - begin, sorted(waits)[len(waits) // 2] * 1e3

    def _use(self, made: Object) -> None:
        spec, path = made["spec"], _place(made)
        kind = {"apiVersion": f"{spec['group']}/v1", "kind": spec["names"]["kind"]}
        deadline = time.monotonic() + 30
        for name in ("a", "b"):
            body = {**kind, "metadata": {"name": name}, "spec": {"size": 3, "ports": [{"port": 80}]}}
            while self._connection.call("POST", path, body)[0] != 201:
                if time.monotonic() > deadline:
                    raise RuntimeError(f"{path} is not served")
        self._call("GET", path, None, (200,))

    def _remove(self) -> None:
        for number in range(self._definitions):
            self._call("DELETE", f"{DEFINITIONS}/{definition(number)['metadata']['name']}", None, (200,))
        deadline = time.monotonic() + 120
        while self._call("GET", f"{DEFINITIONS}?limit=1", None, (200,))["items"]:
            if time.monotonic() > deadline:
                raise RuntimeError("definitions are not deleted")
