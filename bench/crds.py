"""pyb bench crds: what custom resource definitions that come and go cost requests for other kinds, and memory.

Two servers run beside each other: one gets the definitions, the other none. Both get the same unrelated requests in
turns of a tenth of a second, and what is compared is the one's processor time in parts of the other's. What else the
machine does meets both.
"""

import argparse
import json
import statistics
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from bench.harness import definitions
from bench.harness.api_calls import ApiCalls
from bench.harness.kubeconfig import Target
from bench.harness.machine import describe_machine, processor_seconds, resident_megabytes
from bench.harness.own_server import OwnServer

SUMMARY = "crds: 500 definitions made, used and deleted beside a server without; starts its own"
MAPS = "/api/v1/namespaces/default/configmaps"
READS, WRITES = 600, 80  # requests in a turn


def main(argv: list[str]) -> int:
    """Measure and print a table, or one JSON object with --json; fail when a limit is exceeded."""
    parser = argparse.ArgumentParser(prog="pyb bench crds", description=__doc__)
    parser.add_argument("--definitions", type=int, default=500)
    parser.add_argument("--turns", type=int, default=40, help="of each server in each measurement")
    parser.add_argument("--cycles", type=int, default=3, help="how often they are made and deleted again")
    parser.add_argument("--whole", action="store_true", help="with controllers and scheduler in the process")
    parser.add_argument("--limit", type=float, default=10.0, help="most percent by which they may be slower")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    options = parser.parse_args(argv)
    # History is let go soon, so that memory shows what stays for good.
    arguments = (
        ("--etcd-compaction-interval=5s",) if options.whole else ("--alone", "--etcd-compaction-interval=5s")
    )
    with OwnServer(*arguments) as subject, OwnServer(*arguments) as control:
        bench = Bench(Side(subject.target, subject.pid), Side(control.target, control.pid), options.turns)
        bench.run(options.definitions, options.cycles)
    if options.json:
        print(json.dumps({"benchmark": "crds", "machine": describe_machine(), "results": bench.figures}))
    else:
        for name, figure in bench.figures.items():
            print(f"{name:<66}{figure:10.2f}")
    slower = max(value for name, value in bench.figures.items() if name.startswith("slower"))
    if slower > options.limit:
        print(f"pyb bench crds: unrelated requests are {slower:.1f} % slower", file=sys.stderr)
        return 1
    return 0


class Side:
    """One of the two servers."""

    def __init__(self, target: Target, pid: int) -> None:
        self.target, self.pid = target, pid
        self.calls = ApiCalls(target)
        self.calls.expect(201, "POST", MAPS, {"metadata": {"name": "bench"}, "data": {"a": "b"}})

    def read(self) -> None:
        """Take a turn of reads."""
        for _ in range(READS):
            self.calls.expect(200, "GET", f"{MAPS}/bench")

    def write(self) -> None:
        """Take a turn of writes."""
        for number in range(WRITES):
            name = f"bench-{number}"
            self.calls.expect(201, "POST", MAPS, {"metadata": {"name": name}, "data": {"a": "b"}})
            self.calls.expect(200, "DELETE", f"{MAPS}/{name}")

    def custom(self) -> None:
        """Take a turn of reads of a custom resource."""
        path = f"{definitions.place(definitions.definition(0))}/a"
        for _ in range(READS):
            self.calls.expect(200, "GET", path)

    def cost(self, work: "Callable[[Side], None]") -> tuple[float, float]:
        """Return the seconds of processor and of wall clock that a turn took."""
        cpu, wall = processor_seconds(self.pid), time.perf_counter()
        work(self)
        return processor_seconds(self.pid) - cpu, time.perf_counter() - wall


@dataclass
class Pace:
    """What single requests wait while something else goes on, by a client of its own."""

    target: Target
    waits: list[float] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> "Pace":
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def _run(self) -> None:
        calls = ApiCalls(self.target)
        while not self._stop.wait(0.005):
            begin = time.perf_counter()
            calls.expect(200, "GET", f"{MAPS}/bench")
            self.waits.append((time.perf_counter() - begin) * 1e3)
        calls.close()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


class Bench:
    """One run: before, with and after definitions; then they are made and deleted a few times more."""

    def __init__(self, subject: Side, control: Side, turns: int) -> None:
        self._subject, self._control, self._turns = subject, control, turns
        self.figures: dict[str, float] = {}

    def run(self, count: int, cycles: int) -> None:
        """Measure everything."""
        figures, subject = self.figures, self._subject
        self._alternate("", 4)  # warms up
        before = self._alternate("before", self._turns)
        figures["MB before"] = resident_megabytes(subject.pid)
        with Pace(subject.target) as pace:
            figures["definitions made and used, per second"] = count / definitions.make(subject.calls, count)
        waits = statistics.quantiles(pace.waits, n=100)
        figures |= {
            "GET while they are made: median ms": waits[49],
            "GET while they are made: p99 ms": waits[98],
        }
        figures["MB with all definitions"] = resident_megabytes(subject.pid)
        self._compare(before, self._alternate("with all definitions", self._turns), "with all definitions")
        figures["CPU µs for a GET of a custom resource"] = self._custom()
        definitions.remove(subject.calls, count)
        self._compare(before, self._alternate("after their deletion", self._turns), "after their deletion")
        for number in range(1, cycles):
            figures[f"MB after round {number}"] = resident_megabytes(subject.pid)
            definitions.make(subject.calls, count)
            definitions.remove(subject.calls, count)
        figures[f"MB after round {cycles}"] = resident_megabytes(subject.pid)

    def _alternate(self, when: str, turns: int) -> dict[str, float]:
        """Return the subject's cost in parts of the control's, for reads and writes: the median of the turns."""
        shares: dict[str, list[float]] = {}
        costs: dict[str, list[float]] = {}
        sides = [self._subject, self._control]
        for _ in range(turns):
            for name, work in (("GET", Side.read), ("POST and DELETE", Side.write)):
                cost = {side: side.cost(work) for side in sides}
                for unit, index in (("CPU", 0), ("wall", 1)):
                    share = cost[self._subject][index] / cost[self._control][index]
                    shares.setdefault(f"{name}, {unit}", []).append(share)
                costs.setdefault(name, []).append(cost[self._subject][0])
            sides.reverse()
        if when:
            for name, many in costs.items():
                count = READS if name == "GET" else WRITES
                self.figures[f"CPU µs for {name} {when}"] = statistics.median(many) / count * 1e6
        return {name: statistics.median(many) for name, many in shares.items()}

    def _compare(self, before: dict[str, float], now: dict[str, float], when: str) -> None:
        for name, share in now.items():
            self.figures[f"slower {name}, {when}, percent"] = 100 * (share / before[name] - 1)

    def _custom(self) -> float:
        costs = [self._subject.cost(Side.custom)[0] for _ in range(self._turns)]
        return statistics.median(costs) / READS * 1e6
