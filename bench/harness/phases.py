"""The measurements of the API benchmark, one method each."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

from bench.harness.connection import call, request_bytes
from bench.harness.kubeconfig import Target
from bench.harness.load import run_load
from bench.harness.pods import PODS, create_requests, delete_requests, patch_requests, pod_name
from bench.harness.report import Figures, figures_of_load, milliseconds, rates
from bench.harness.watchers import WatcherProcess
from bench.harness.wrk import run_wrk, wrk_can_serve

CREATORS = 4  # connections that create Pods while watchers look on


@dataclass(frozen=True)
class Size:
    """How much of everything is done."""

    serial: int  # writes over one connection
    pods: int  # Pods in the namespace when reads are measured
    patches: int
    seconds: float  # of each read
    watches: tuple[tuple[int, int], ...]  # watchers and creates
    watch_limit: float = 180


FULL = Size(500, 10_000, 4_000, 5, ((100, 1_000), (500, 300)))
QUICK = Size(100, 1_000, 500, 1, ((20, 200), (50, 100)))


class Phases:
    """Runs measurements against one server; the order in which they are called matters."""

    def __init__(self, target: Target, size: Size, use_wrk: bool) -> None:
        self._target = target
        self._size = size
        self._use_wrk = use_wrk and wrk_can_serve(target)

    def create(self, connections: int) -> Figures:
        """Create Pods: few over one connection, the rest of the wanted number over many."""
        group, count = self._group(connections)
        return self._writes(connections, create_requests(self._target, group, count))

    def get(self, connections: int) -> Figures:
        """Read single Pods, going round some hundred of them."""
        pods = self._size.serial
        return self._reads(connections, f"{PODS}/{pod_name('a', 0).replace('000000', '%06d')}", pods)

    def list_page(self, connections: int) -> Figures:
        """List the first 500 Pods, as kubectl does."""
        return self._reads(connections, f"{PODS}?limit=500")

    def list_all(self, connections: int, from_cache: bool, accept: str = "application/json") -> Figures:
        """List every Pod, consistently or from the server's cache as it stands."""
        path = PODS + ("?resourceVersion=0" if from_cache else "")
        return self._reads(connections, path, seconds=2 * self._size.seconds, accept=accept)

    def patch(self, connections: int) -> Figures:
        """Change one label of Pods with merge patches."""
        count = self._size.serial if connections == 1 else self._size.patches
        requests = patch_requests(self._target, "a", self._size.serial, count, f"c{connections}")
        return self._writes(connections, requests)

    def delete(self, connections: int) -> Figures:
        """Delete what `create` made over the same number of connections."""
        group, count = self._group(connections)
        return self._writes(connections, delete_requests(self._target, group, count))

    def watch(self, watchers: int, creates: int, group: str) -> Figures:
        """Create Pods while many watch, and wait until everybody has seen everything."""
        version = call(self._target, "GET", f"{PODS}?limit=1")["metadata"]["resourceVersion"]
        path = f"{PODS}?watch=true&resourceVersion={version}"
        process = WatcherProcess(self._target, path, watchers, creates, self._size.watch_limit)
        try:
            process.wait_until_watching()
            begin = perf_counter()
            requests = iter(create_requests(self._target, group, creates))
            load = run_load(self._target, CREATORS, lambda: next(requests, None))
            written = perf_counter()
            delivery = process.result()
        finally:
            process.close()
        seconds = delivery.finished - begin
        failures = delivery.ended_early + load.failures.total()
        figures = rates(
            delivery.events, seconds, delivery.received, failures, delivery.busy_seconds, "python"
        )
        figures["creates_per_second"] = round(len(load.latencies) / load.seconds, 1)
        figures["lag_ms"] = milliseconds(max(0.0, delivery.finished - written))
        figures["watches_ended_early"] = delivery.ended_early
        notes = [
            f"{figures['creates_per_second']:.0f} creates/s, last event {figures['lag_ms']:.0f} ms after"
        ]
        notes += [f"{delivery.ended_early} watches ended by the server"] if delivery.ended_early else []
        notes += [text for text in (delivery.problem, load.describe_failures()) if text]
        figures["note"] = "; ".join(notes)
        return figures

    def _group(self, connections: int) -> tuple[str, int]:
        if connections == 1:
            return "a", self._size.serial
        return "b", self._size.pods - self._size.serial

    def _writes(self, connections: int, requests: list[bytes]) -> Figures:
        remaining = iter(requests)
        return self._python(connections, lambda: next(remaining, None), None)

    def _reads(
        self,
        connections: int,
        path: str,
        numbers: int = 0,
        seconds: float | None = None,
        accept: str = "application/json",
    ) -> Figures:
        seconds = seconds or self._size.seconds
        if self._use_wrk:
            result = run_wrk(self._target, path, connections, seconds, numbers, accept)
            figures = rates(
                result["requests"] - result["failures"],
                result["seconds"],
                result["received"],
                result["failures"],
                result["busy_seconds"],
                "wrk",
            )
            return figures | {
                f"p{percent}_ms": milliseconds(result[f"p{percent}"]) for percent in (50, 90, 99)
            }
        paths = [path % number for number in range(numbers)] if numbers else [path]
        requests = [request_bytes(self._target, "GET", path, accept=accept) for path in paths]
        position = -1

        def next_request() -> bytes:
            nonlocal position
            position = (position + 1) % len(requests)
            return requests[position]

        return self._python(connections, next_request, seconds)

    def _python(
        self, connections: int, requests: Callable[[], bytes | None], seconds: float | None
    ) -> Figures:
        load = run_load(self._target, connections, requests, seconds)
        figures = figures_of_load(
            load.latencies, load.seconds, load.received, load.failures.total(), load.busy_seconds, "python"
        )
        if load.failures:
            figures["note"] = load.describe_failures()
        return figures
