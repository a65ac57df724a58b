"""WebSocket channels to pods: exec, attach and port-forward, with the terminal as it needs to be."""

from __future__ import annotations

import os
import sys
import threading

from pybernetes.lib.http import websocket
from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.connection.client import failure, query_string
from pybernetes.tools.kubectl.connection.http import Connection, Response
from pybernetes.tools.kubectl.connection.json_text import loads
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, Verbatim

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from pybernetes.api.resource import Object

    Write = Callable[[bytes], None]
    Give = Callable[[Write], None]

STDIN, STDOUT, STDERR, ERROR, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255


class Refused(CommandError):
    """The server has answered, and not with an upgrade."""


class Channels:
    """A WebSocket connection whose messages begin with the number of a channel."""

    def __init__(self, context: Context, path: str, query: Any, protocols: tuple[str, ...]) -> None:
        self._connection = Connection(context.client.access, None)
        key = websocket.new_key()
        asked = {
            name.decode(): value.decode() for name, value in websocket.upgrade_headers(key, protocols).items()
        }
        headers = context.client.headers(asked)
        response = self._connection.send("GET", path + query_string(query), headers, None)
        if response.status != 101:
            raise _refused(response)
        answer = {name.encode(): value.encode() for name, value in response.headers.items()}
        websocket.check_upgrade(answer, key)
        self.protocol = response.headers.get("sec-websocket-protocol", "")
        self._parser = websocket.Parser()
        self._lock = threading.Lock()
        self.closed = False
        self.ending = (
            "close 1006 (abnormal closure): unexpected EOF"  # how the other side has ended it, if not well
        )

    def receive(self) -> tuple[int, bytes] | None:
        """Return the next channel and its data; None at the end."""
        while True:
            while (waiting := self._parser.next()) is not None:
                opcode, payload = waiting
                if opcode in (websocket.TEXT, websocket.BINARY):
                    if payload:
                        return payload[0], payload[1:]
                elif opcode == websocket.PING:
                    self._write(websocket.PONG, payload)
                elif opcode == websocket.CLOSE:
                    code = int.from_bytes(payload[:2], "big") or websocket.NORMAL
                    self.ending = "" if code == websocket.NORMAL else f"close {code}"
                    self.close()
                    return None
            try:
                data = self._connection.some()
            except OSError:
                data = b""
            if not data:
                return None
            self._parser.feed(data)

    def send(self, channel: int, data: bytes) -> None:
        """Send data on a channel."""
        self._write(websocket.BINARY, bytes((channel,)) + data)

    def end_input(self) -> None:
        """Tell the other side that there is no more input."""
        if self.protocol.startswith("v5."):
            self.send(CLOSE, bytes((STDIN,)))

    def _write(self, opcode: int, payload: bytes) -> None:
        with self._lock:
            if not self.closed:
                self._connection.raw().sendall(websocket.frame(opcode, payload, mask=os.urandom(4)))

    def finish(self) -> None:
        """Ask the other side to close; for threads other than the one that receives."""
        try:
            self._write(websocket.CLOSE, b"\x03\xe8")
        except OSError:
            pass

    def close(self) -> None:
        """Close the connection. Only the receiving thread may: a closed descriptor is soon that of another socket."""
        self.finish()
        with self._lock:
            if not self.closed:
                self.closed = True
                self._connection.close()


def _refused(response: Response) -> Refused:
    """Return what is told of an answer that is no upgrade."""
    error = failure(response, "GET")
    return Refused(f"unable to upgrade connection: {error.body or error.message}")


class Terminal:
    """Standard input as raw keys while a program in a container has it."""

    def __init__(self, raw: bool) -> None:
        self._raw = raw
        self._kept: list[Any] | None = None

    def __enter__(self) -> Terminal:
        if self._raw and os.isatty(0):
            import termios
            import tty

            self._kept = termios.tcgetattr(0)
            tty.setraw(0)
        return self

    def __exit__(self, *exc: object) -> None:
        if self._kept is not None:
            import termios

            termios.tcsetattr(0, termios.TCSADRAIN, self._kept)


def run(
    context: Context, path: str, query: list[tuple[str, Any]], *, stdin: bool, tty: bool, given: Give | None = None,
    output: Any = None, redraw: bool = False,
) -> int:  # fmt: skip
    """Join our input and output with a process in a container until it ends; return its exit code.

    ``given`` writes what the process is to read, with the function that it gets.
    ``redraw`` is for a process that has a terminal already: it is told another size first, so that it draws anew.
    """
    channels = Channels(context, path, query, ("v5.channel.k8s.io", "v4.channel.k8s.io"))
    status: Object = {}
    with Terminal(tty and stdin):
        if tty:
            _sizes(channels, redraw)
        if given is not None:
            threading.Thread(target=_give, args=(channels, given), daemon=True).start()
        elif stdin:
            threading.Thread(target=_pump, args=(channels, context.stdin), daemon=True).start()
        targets = {STDOUT: _binary(output or context.stdout), STDERR: _binary(context.stderr)}
        context.stdout.flush()
        while (message := channels.receive()) is not None:
            channel, data = message
            if channel in targets and data:
                targets[channel](data)
            elif channel == ERROR:
                try:
                    status = loads(data)
                except ValueError:
                    status = {}
                if not isinstance(status, dict) or not status:
                    status = {"status": "Failure", "message": data.decode("utf-8", "replace")}
    channels.close()
    if not status and channels.ending:  # nobody has said that the process ended
        raise CommandError(f"websocket: {channels.ending}")
    return exit_code(status)


def exit_code(status: Object) -> int:
    """Return the exit code of a process; raise if it did not start."""
    if not status or status.get("status") == "Success":
        return 0
    if status.get("reason") == "NonZeroExitCode":
        for cause in (status.get("details") or {}).get("causes") or ():
            if cause.get("reason") == "ExitCode":
                text = str(cause.get("message"))
                return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 1
    raise CommandError(status.get("message") or "the command failed")


def ended(code: int) -> None:
    """End our command with the exit code of the process."""
    if code:
        raise Verbatim(f"command terminated with exit code {code}", code)


def _binary(stream: Any) -> Any:
    buffer = getattr(stream, "buffer", None)
    if buffer is None:
        return lambda data: stream.write(data.decode("utf-8", "replace"))

    def write(data: bytes) -> None:
        buffer.write(data)
        buffer.flush()

    return write


def _give(channels: Channels, given: Give) -> None:
    try:
        given(lambda data: channels.send(STDIN, data))
        channels.end_input()
    except OSError:
        pass  # the process has ended


def _pump(channels: Channels, stream: Any) -> None:
    try:
        if stream is sys.stdin:
            while data := os.read(0, 32768):
                channels.send(STDIN, data)
        else:
            data = stream.read()
            channels.send(STDIN, data if isinstance(data, bytes) else data.encode())
        channels.end_input()
    except OSError:
        pass  # the process has ended


def _sizes(channels: Channels, redraw: bool) -> None:
    import signal

    def tell(*_: object, more: int = 0) -> None:
        try:
            size = os.get_terminal_size(1)
        except OSError:
            return
        channels.send(RESIZE, f'{{"Width":{size.columns + more},"Height":{size.lines + more}}}'.encode())

    if redraw:
        tell(more=1)
    tell()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGWINCH, tell)
