"""pyb bench pipeline: processor time of a request inside the API server, from the parsed request to its answer."""

import argparse
import asyncio
import inspect
import json
import sys
import time
from types import SimpleNamespace
from typing import Any

from bench.harness.inprocess_server import TOKEN, inprocess_server
from pybernetes.control_plane.apiserver.assembly.api_server import ApiServer
from pybernetes.control_plane.apiserver.observability.write_times import WriteTimes
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.http.messages import Response

SUMMARY = (
    "a request's way through the API server without a connection: get, create, patch, bind; needs no server"
)
PODS = "/api/v1/namespaces/default/pods"
POD = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
ROUNDS = 7


def main(argv: list[str]) -> int:
    """Measure and print a table, or one JSON object with --json; fail when a GET is over the limit."""
    parser = argparse.ArgumentParser(prog="pyb bench pipeline", description=__doc__)
    parser.add_argument("--reads", type=int, default=5000, help="how many GETs make a round")
    parser.add_argument("--writes", type=int, default=200, help="how many writes of each sort make a round")
    parser.add_argument("--limit", type=float, default=50.0, help="most microseconds for a GET")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    options = parser.parse_args(argv)
    figures = asyncio.run(_measure(options.reads, options.writes))
    if options.json:
        print(json.dumps(figures))
    else:
        for name, figure in figures.items():
            print(f"{name:<20}{figure:10.2f} µs")
    if figures["get"] > options.limit:
        print(f"pyb bench pipeline: a GET is over the limit of {options.limit} µs", file=sys.stderr)
        return 1
    return 0


async def _measure(reads: int, writes: int) -> dict[str, float]:
    async with inprocess_server() as server:
        return await Caller(server).figures(reads, writes)


class Caller:
    """Hands requests to a server as a connection does; the best of some rounds counts."""

    def __init__(self, server: ApiServer) -> None:
        self._handle = server.http.application
        transport = SimpleNamespace(get_extra_info=lambda name, default=None: default)
        self._connection: Any = SimpleNamespace(peer=None, tls=None, credential=None, transport=transport)
        self._pods = 0

    async def figures(self, reads: int, writes: int) -> dict[str, float]:
        """Return microseconds of processor time by what is asked for."""
        name = await self._create()
        best = {"get": 0.0, "create": 0.0, "patch": 0.0, "bind": 0.0}
        for number in range(ROUNDS):
            round_ = {
                "get": await self._gets(name, reads),
                "create": await self._creates(writes),
                "patch": await self._patches(name, writes),
                "bind": await self._binds(writes),
            }
            best = {sort: min(round_[sort], best[sort] if number else round_[sort]) for sort in round_}
        return {**best, "note a create": min(self._note(reads) for _ in range(ROUNDS))}

    def _note(self, count: int) -> float:
        """Return what it takes to note when a pod was created, which is a part of a create."""
        times, request = WriteTimes(), self._request("POST", PODS)
        pods = [{"metadata": {"uid": str(number)}} for number in range(count)]
        started = time.process_time()
        for pod in pods:
            times.created(pod, request, time.monotonic(), time.monotonic())
        return (time.process_time() - started) / count * 1e6

    async def _gets(self, name: str, count: int) -> float:
        started = time.process_time()
        for _ in range(count):
            self._handle(self._request("GET", f"{PODS}/{name}"))
        return (time.process_time() - started) / count * 1e6

    async def _creates(self, count: int) -> float:
        started = time.process_time()
        for _ in range(count):
            await self._create()
        return (time.process_time() - started) / count * 1e6

    async def _patches(self, name: str, count: int) -> float:
        started = time.process_time()
        for number in range(count):
            body = {"metadata": {"labels": {"number": str(number)}}}
            await self.call("PATCH", f"{PODS}/{name}", body, b"application/merge-patch+json")
        return (time.process_time() - started) / count * 1e6

    async def _binds(self, count: int) -> float:
        names = [await self._create() for _ in range(count)]
        started = time.process_time()
        for name in names:
            binding = {"metadata": {"name": name}, "target": {"kind": "Node", "name": "n"}}
            await self.call("POST", f"{PODS}/{name}/binding", binding)
        return (time.process_time() - started) / count * 1e6

    async def _create(self) -> str:
        self._pods += 1
        name = f"p{self._pods}"
        await self.call("POST", PODS, {"metadata": {"name": name}, **POD})
        return name

    async def call(
        self, method: str, path: str, body: dict[str, Any], media_type: bytes = b"application/json"
    ) -> None:
        """Send one request, which has to succeed."""
        answer = self._handle(self._request(method, path, json.dumps(body).encode(), media_type))
        answer = await answer if inspect.isawaitable(answer) else answer
        assert isinstance(answer, Response) and answer.status < 300, answer

    def _request(self, method: str, path: str, body: bytes = b"", media_type: bytes = b"") -> Request:
        headers = {
            b"authorization": f"Bearer {TOKEN}".encode(),
            b"accept": b"application/json",
            b"user-agent": b"bench/1",
        }
        if media_type:
            headers[b"content-type"] = media_type
        request = Request(self._connection, method, path, "", headers, body)
        request.started = time.monotonic()
        return request
