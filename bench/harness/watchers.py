"""A process that holds many watches open and counts the events that arrive.

Counting needs no parsing: an event ends in one line feed, the framing of HTTP uses line feeds only after a
carriage return, and JSON text holds neither. So on the whole stream the number of events is the number of
line feeds less the number of carriage returns.
"""

import select
import ssl
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from time import perf_counter, process_time

from bench.harness.connection import open_socket, request_bytes
from bench.harness.kubeconfig import Target
from bench.harness.load import BUFFER_SIZE


@dataclass
class Delivery:
    """What arrived at one process of watchers."""

    events: int
    received: int
    ended_early: int
    finished: float  # of the clock perf_counter, which all processes of a machine share
    busy_seconds: float
    problem: str = ""


class WatcherProcess:
    """Watchers in a process of their own, so that they do not share a core with the writer."""

    def __init__(self, target: Target, path: str, watchers: int, events: int, limit: float) -> None:
        context = get_context("fork")
        self._pipe, theirs = context.Pipe()
        arguments = (theirs, target, path, watchers, events, limit)
        self._process = context.Process(target=_watch, args=arguments, daemon=True)
        self._limit = limit
        self._process.start()
        theirs.close()

    def wait_until_watching(self) -> None:
        """Return once the server has accepted every watch."""
        if not self._pipe.poll(self._limit):
            raise TimeoutError("the watches did not start")
        problem = self._pipe.recv()
        if problem:
            raise RuntimeError(problem)

    def result(self) -> Delivery:
        """Wait for the last event, or for the limit of time, and return what arrived."""
        if not self._pipe.poll(self._limit + 5):
            raise TimeoutError("the watchers did not report")
        return self._pipe.recv()

    def close(self) -> None:
        """End the process if it is still there."""
        self._process.terminate()
        self._process.join(10)


def _watch(pipe: Connection, target: Target, path: str, watchers: int, events: int, limit: float) -> None:
    poller = select.epoll()
    sockets: dict[int, ssl.SSLSocket] = {}
    counts: dict[int, int] = {}
    buffer = bytearray(BUFFER_SIZE)
    view = memoryview(buffer)
    request = request_bytes(target, "GET", path)
    received = 0
    try:
        for _ in range(watchers):
            sock = open_socket(target)
            sock.sendall(request)
            sockets[sock.fileno()] = sock
        for number, sock in sockets.items():
            # The server sends the head at once; events can follow only after this process said it is ready.
            size = sock.recv_into(buffer)
            if buffer[9:12] != b"200":
                raise RuntimeError(f"a watch was refused: {bytes(view[:size]).decode(errors='replace')}")
            counts[number] = buffer.count(b"\n", 0, size) - buffer.count(b"\r", 0, size)
            sock.setblocking(False)
            poller.register(number, select.EPOLLIN)
    except Exception as error:
        pipe.send(f"{type(error).__name__}: {error}")
        return
    pipe.send("")

    busy = process_time()
    begin = last = perf_counter()
    ended = 0
    open_watches = watchers
    while open_watches and last - begin < limit:
        ready = poller.poll(1.0)
        if not ready and perf_counter() - begin > limit:
            break
        for number, _ in ready:
            try:
                size = sockets[number].recv_into(buffer)
            except ssl.SSLWantReadError:
                continue
            except OSError:
                size = 0
            received += size
            count = counts[number] + buffer.count(b"\n", 0, size) - buffer.count(b"\r", 0, size)
            counts[number] = count
            if count >= events or size == 0:
                ended += count < events
                open_watches -= 1
                poller.unregister(number)
        last = perf_counter()
    problem = f"{open_watches} watchers did not get all events in time" if open_watches else ""
    pipe.send(Delivery(sum(counts.values()), received, ended, last, process_time() - busy, problem))
