"""HTTP/1.1 over a socket: requests one after another on a kept connection, streams, upgrades.

Python's own http.client would cost more time to import than a request takes.
"""

from __future__ import annotations

import os
import socket

from pybernetes.lib.network.keep_alive import keep_alive
from pybernetes.tools.kubectl import TYPE_CHECKING, log
from pybernetes.tools.kubectl.errors import CommandError, CutOff, NoConnection, quoted

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterator
    from typing import Any

    from pybernetes.tools.kubectl.kubeconfig.access import Access

_READ = 262144
_DIAL = 30.0  # seconds in which a server must take a connection
# What a server may send before an answer begins, and between its chunks.
_HEAD_LIMIT = 1 << 20


class Response:
    """An answer: status, headers (names in lower case) and a body that is read when asked for."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        head = connection.until(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        version, _, rest = lines[0].partition(" ")
        if not version.startswith("HTTP/1.") or not (rest[:3].isascii() and rest[:3].isdigit()):
            raise NoConnection("net/http: malformed HTTP response")
        self.status = int(rest[:3])
        self.status_line = rest
        self.header_list = [
            (name, value.strip()) for name, _, value in (text.partition(":") for text in lines[1:])
        ]
        self.headers: dict[str, str] = {}
        self.warnings: list[str] = []
        for name, value in self.header_list:
            name = name.lower()
            if name == "warning":
                self.warnings.append(value)
            self.headers[name] = value
        length = self.headers.get("content-length")
        if length and not (length.isascii() and length.isdigit() and len(length) < 20):
            raise NoConnection(f"bad Content-Length {quoted(length)}")
        self._left = int(length) if length else (0 if self.status in (101, 204, 304) else -1)
        self._chunked = self.headers.get("transfer-encoding", "").lower() == "chunked"
        self.done = False

    def pieces(self) -> Iterator[bytes]:
        """Yield the body as it arrives."""
        connection = self._connection
        if self._chunked:
            while size := _chunk_size(connection.line()):
                while size:
                    piece = connection.some(size)
                    if not piece:
                        raise CutOff
                    size -= len(piece)
                    yield piece
                connection.exactly(2)
            while connection.line():
                pass
        elif self._left >= 0:
            while self._left:
                piece = connection.some(self._left)
                if not piece:
                    raise CutOff
                self._left -= len(piece)
                yield piece
        else:
            while piece := connection.some(_READ):
                yield piece
            connection.close()
        self.done = True

    def read(self) -> bytes:
        """Return the whole body."""
        return b"".join(self.pieces())

    def lines(self) -> Iterator[bytes]:
        """Yield the body line by line, as it arrives."""
        begun: list[bytes] = []
        for piece in self.pieces():
            first, *more = piece.split(b"\n")
            begun.append(first)
            if more:
                yield b"".join(begun)
                begun = [more.pop()]
                yield from more
        if rest := b"".join(begun):
            yield rest

    def close(self) -> None:
        """Close the connection; needed when the body was not read to its end."""
        if not self.done:
            self._connection.close()


class Connection:
    """A connection to the server, opened when it is needed."""

    def __init__(self, access: Access, timeout: float | None = None) -> None:
        self._access, self._timeout = access, timeout
        self._socket: Any = None
        self._buffer = b""
        self._deadline = 0.0
        self._opening = (0.0, 0.0, 0.0)  # seconds that the last lookup, dial and handshake took

    def send(self, method: str, path: str, headers: dict[str, Any], body: bytes | None) -> Response:
        """Send a request; a kept connection that the server has closed is opened again."""
        try:
            if log.level >= 6:
                return self._told(method, path, headers, body)
            return self._send(method, path, headers, body)
        except NoConnection as error:
            raise error.about(method, self._access.server + path) from None

    def _told(self, method: str, path: str, headers: dict[str, Any], body: bytes | None) -> Response:
        """Send a request, and print what ``-v`` asks for."""
        import time

        from pybernetes.tools.kubectl.connection import request_log

        access = self._access
        url = access.server + path
        pairs = [
            (name, text)
            for name, texts in headers.items()
            for text in (texts if isinstance(texts, list) else [texts])
        ]
        request_log.body("Request", body or b"")
        request_log.request(method, url, pairs)
        begun, reused = time.monotonic(), self._socket is not None
        try:
            response = self._send(method, path, headers, body)
        except NoConnection as error:
            address = f"{access.host}:{access.port}"
            request_log.failed(method, url, error.reason, address, time.monotonic() - begun)
            raise
        if not reused:
            request_log.dialled(f"{access.host}:{access.port}")
        taken, opening = time.monotonic() - begun, None if reused else self._opening
        request_log.answer(method, url, response.status_line, response.header_list, taken, opening)
        return response

    def _send(self, method: str, path: str, headers: dict[str, Any], body: bytes | None) -> Response:
        if self._access.scheme not in ("http", "https"):
            raise NoConnection(f"unsupported protocol scheme {quoted(self._access.scheme)}")
        if self._access.port > 65535:
            raise NoConnection(f"dial tcp: address {self._access.port}: invalid port")
        target = self._access.prefix + path
        if self._access.proxy and self._access.scheme == "http":
            target = f"http://{self._access.host_header}{target}"
        lines = [f"{method} {target} HTTP/1.1", f"Host: {self._access.host_header}"]
        for name, value in headers.items():
            for item in value if isinstance(value, list) else [value]:
                if _is_not_text(str(item)):  # a second header, or a second request
                    raise NoConnection(f"net/http: invalid header field value for {quoted(name)}")
                lines.append(f"{name}: {item}")
        if body is not None or method in ("POST", "PUT", "PATCH"):
            lines.append(f"Content-Length: {len(body or b'')}")
        if _is_not_text(lines[0]) or lines[0].count(" ") != 2:
            raise NoConnection(f"parse {quoted(target)}: net/url: invalid control character in URL")
        data = ("\r\n".join(lines) + "\r\n\r\n").encode() + (body or b"")
        for fresh in (self._socket is None, True):
            self.open()
            try:
                self._socket.sendall(data)
                return Response(self)
            except TimeoutError:
                self.close()
                raise NoConnection(
                    "net/http: request canceled (Client.Timeout exceeded while awaiting headers)"
                ) from None
            except (OSError, EOFError) as error:
                self.close()
                if fresh:
                    raise NoConnection(_words(error)) from None
        raise AssertionError

    def open(self) -> None:
        """Connect, unless there is a connection."""
        if self._socket is None:
            self._open()

    def _open(self) -> None:
        import time

        access, begun, looked_up = self._access, time.monotonic(), 0.0
        try:
            if log.level >= 9:
                socket.getaddrinfo(
                    access.host, access.port
                )  # apart from the connection, to tell what it takes
                looked_up = time.monotonic() - begun
            host: Any = access.host.encode("idna" if not access.host.isascii() else "ascii")
            if access.proxy:
                from pybernetes.tools.kubectl.connection.forward_proxy import connect

                raw = connect(access, host, self._timeout)
            else:
                raw = socket.create_connection((host, access.port), min(self._timeout or _DIAL, _DIAL))
                raw.settimeout(self._timeout)
        except ConnectionRefusedError:
            reason = f"dial tcp {_dialled(access)}: connect: connection refused"
            raise NoConnection(reason, access.host_header) from None
        except TimeoutError:
            raise NoConnection(f"dial tcp {access.host}:{access.port}: i/o timeout") from None
        except socket.gaierror:
            raise NoConnection(f"dial tcp: lookup {access.host}: no such host") from None
        except OSError as error:
            raise NoConnection(f"dial tcp {access.host}:{access.port}: connect: {_words(error)}") from None
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        keep_alive(raw)  # a watch, or logs that are followed
        dialled = time.monotonic()
        self._socket = raw if access.scheme == "http" else self._secure(raw)
        self._opening = (looked_up, dialled - begun - looked_up, time.monotonic() - dialled)

    def _secure(self, raw: socket.socket) -> Any:
        import ssl

        try:
            return tls_context(self._access).wrap_socket(
                raw, server_hostname=(self._access.server_name or self._access.host).encode()
            )
        except ssl.SSLCertVerificationError as error:
            raise NoConnection("tls: failed to verify certificate: x509: " + _certificate(error)) from None
        except OSError as error:
            raise NoConnection(_words(error)) from None

    def some(self, limit: int = _READ) -> bytes:
        """Return what has arrived, at least one byte; empty at the end."""
        if self._buffer:
            piece, self._buffer = self._buffer[:limit], self._buffer[limit:]
            return piece
        return self._received(min(limit, _READ)) if self._socket else b""

    def _received(self, limit: int) -> bytes:
        if self._deadline:
            import time

            left = self._deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self._socket.settimeout(left)
        return self._socket.recv(limit)

    def exactly(self, size: int) -> bytes:
        """Return exactly this many bytes."""
        parts = []
        while size:
            piece = self.some(size)
            if not piece:
                raise CutOff
            parts.append(piece)
            size -= len(piece)
        return b"".join(parts) if len(parts) != 1 else parts[0]

    def until(self, mark: bytes) -> bytes:
        """Return everything before a mark, and drop the mark."""
        seen = 0
        while (place := self._buffer.find(mark, max(0, seen - len(mark) + 1))) < 0:
            seen = len(self._buffer)
            if seen > _HEAD_LIMIT:
                self.close()
                raise NoConnection(f"net/http: server response headers exceeded {_HEAD_LIMIT} bytes; aborted")
            piece = self._received(_READ)
            if not piece:
                raise EOFError("EOF")
            self._buffer += piece
        before, self._buffer = self._buffer[:place], self._buffer[place + len(mark) :]
        return before

    def line(self) -> bytes:
        """Return a line of a body that comes in pieces."""
        try:
            return self.until(b"\r\n")
        except EOFError:
            raise CutOff from None

    def raw(self) -> Any:
        """Return the socket, for another protocol after an upgrade."""
        return self._socket

    def settimeout(self, seconds: float | None) -> None:
        """Limit the time of each read."""
        if self._socket is not None:
            self._socket.settimeout(seconds)

    def limit(self, deadline: float) -> None:
        """Limit the time of all reads together: none is begun after the deadline, and none outlasts it."""
        self._deadline = deadline

    def close(self) -> None:
        """Close the connection."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
            self._buffer = b""


def _is_not_text(text: str) -> bool:
    """Return whether a text cannot be a line of a request."""
    return not text.isprintable() and any((char < " " and char != "\t") or char == "\x7f" for char in text)


def _dialled(access: Access) -> str:
    """Return the address that a name of a server stands for, for messages."""
    try:
        host = str(socket.getaddrinfo(access.host, access.port, type=socket.SOCK_STREAM)[0][4][0])
    except OSError:
        return f"{access.host}:{access.port}"
    return f"[{host}]:{access.port}" if ":" in host else f"{host}:{access.port}"


def _chunk_size(line: bytes) -> int:
    text = line.partition(b";")[0].strip()
    if not text or len(text) > 15 or text.strip(b"0123456789abcdefABCDEF"):
        raise NoConnection("invalid byte in chunk length")
    return int(text, 16)


def tls_context(access: Access) -> ssl.SSLContext:
    """Return the TLS settings of a connection: what it trusts, and its client certificate."""
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if access.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif access.authority:
        try:
            context.load_verify_locations(cadata=access.authority)
        except (ssl.SSLError, ValueError) as error:
            raise CommandError(f"unable to load root certificates: {error}") from None
    else:
        context.load_default_certs()
    if access.certificate and access.key:
        with _File(access.certificate) as certificate, _File(access.key) as key:
            try:
                context.load_cert_chain(certificate, key)
            except (ssl.SSLError, OSError) as error:
                raise CommandError(f"the client certificate cannot be used: {error}") from None
    return context


class _File:
    """A text as a file, because OpenSSL reads certificates from files only; the file is in memory."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __enter__(self) -> str:
        self._handle = os.memfd_create("pem")
        os.write(self._handle, self._text.encode())
        return f"/proc/self/fd/{self._handle}"

    def __exit__(self, *exc: object) -> None:
        os.close(self._handle)


def _words(error: BaseException) -> str:
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).lower()


def _certificate(error: Any) -> str:
    if "self-signed" in error.verify_message or "unable to get local issuer" in error.verify_message:
        return "certificate signed by unknown authority"
    return error.verify_message
