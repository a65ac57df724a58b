"""What proves a client to the server: certificates, tokens, and programs that give either.

Authority           whom we trust
└── Certificate     … and a client certificate; files are read again when they change
Credentials         a request's headers and a connection's TLS
├── Anonymous       nothing but TLS
├── Token           a bearer token
├── TokenFile       a bearer token in a file, read again every minute
├── Basic           a name and a password
└── Exec            what a program says, until it expires
"""

from __future__ import annotations

import asyncio
import base64
import os
import ssl
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import orjson

from pybernetes.client import exec_credential
from pybernetes.client.errors import NotSent
from pybernetes.lib import rfc3339
from pybernetes.lib.clock import Clock
from pybernetes.lib.tls import tls

Headers = dict[bytes, bytes]
_LOOK_SECONDS = 10.0
_TOKEN_SECONDS = 60.0
_EXEC_SECONDS = 60.0


class CredentialError(NotSent):
    """The credentials cannot be had."""


class Authority:
    """Whom we trust: an authority in a file or as text, the system's, or anybody."""

    def __init__(self, path: Path | None = None, text: str | None = None, *, verify: bool = True) -> None:
        self.path, self.text, self.verify = path, text, verify
        self._context: ssl.SSLContext | None = None

    def make(self) -> ssl.SSLContext:
        """Return a new TLS context; ConnectionError if the files are missing or broken."""
        try:
            return tls.client_context(self.path, authority_data=self.text, verify=self.verify)
        except (OSError, ValueError) as error:
            raise CredentialError(
                f"the certificate authority {self.path or ''} cannot be read: {error}"
            ) from None

    def context(self) -> ssl.SSLContext:
        """Return the TLS context for new connections; another one when the identity has changed."""
        if self._context is None:
            self._context = self.make()
        return self._context

    def with_trust(self, trust: Authority) -> Authority:
        """Return the same identity, for servers that somebody else vouches for."""
        return trust


class Certificate(Authority):
    """Whom we trust, and a certificate with its key, each in a file or as PEM text."""

    def __init__(
        self, trust: Authority, certificate: str | Path, key: str | Path, clock: Clock | None = None
    ) -> None:
        super().__init__(trust.path, trust.text, verify=trust.verify)
        self._certificate, self._key = certificate, key
        self._clock = clock or Clock()
        self._look_at = 0.0
        self._stamp: Any = None

    def with_trust(self, trust: Authority) -> Authority:
        """Return the same certificate, for servers that somebody else vouches for."""
        return Certificate(trust, self._certificate, self._key, self._clock)

    def make(self) -> ssl.SSLContext:
        """Return a new TLS context with the certificate."""
        context = super().make()
        with ExitStack() as stack:
            try:
                context.load_cert_chain(*(_as_file(stack, value) for value in (self._certificate, self._key)))
            except (OSError, ValueError) as error:
                raise CredentialError(f"the client certificate cannot be used: {error}") from None
        return context

    def context(self) -> ssl.SSLContext:
        """Return the TLS context for new connections, with the files as they are now."""
        now = self._clock.monotonic()
        if self._context is None or now >= self._look_at:
            self._look_at = now + _LOOK_SECONDS
            stamp = [_modified(path) for path in (self._certificate, self._key) if isinstance(path, Path)]
            if self._context is None or stamp != self._stamp:
                try:
                    self._context = self.make()
                except CredentialError:
                    if self._context is None:
                        raise
                    return self._context  # a pair of files that is being replaced: what we have is still good
                self._stamp = stamp
        return self._context


def _modified(path: Path) -> Any:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino


def _as_file(stack: ExitStack, value: str | Path) -> str:
    """Put a PEM text into a file for a moment, because OpenSSL reads files only."""
    if isinstance(value, Path):
        return str(value)
    handle, path = tempfile.mkstemp(prefix="pybernetes-")
    stack.callback(os.unlink, path)
    with os.fdopen(handle, "w") as file:
        file.write(value)
    return path


class Credentials:
    """What goes with each request."""

    def __init__(self, trust: Authority) -> None:
        self._trust = trust

    def trust(self) -> Authority:
        """Return what servers are trusted by, without a certificate that says who we are."""
        return Authority(self._trust.path, self._trust.text, verify=self._trust.verify)

    def trusting(self, authority: Authority) -> Authority:
        """Return what makes TLS contexts with the same certificate, for servers that somebody else vouches for."""
        return self._trust.with_trust(authority)

    def context(self) -> ssl.SSLContext | None:
        """Return the TLS context for new connections."""
        return self._trust.context()

    async def headers(self) -> Headers:
        """Return the headers of a request."""
        return {}

    def refused(self) -> bool:
        """Told that the server did not accept them: whether there may be others now."""
        return False


class Anonymous(Credentials):
    """No more than TLS, which may have a certificate."""


class Token(Credentials):
    """A bearer token."""

    def __init__(self, trust: Authority, token: str) -> None:
        super().__init__(trust)
        self._headers = bearer(token)

    async def headers(self) -> Headers:
        """Return the token."""
        return self._headers


class TokenFile(Credentials):
    """A bearer token in a file that others renew."""

    def __init__(self, trust: Authority, path: Path, clock: Clock | None = None) -> None:
        super().__init__(trust)
        self._path = path
        self._clock = clock or Clock()
        self._headers: Headers = {}
        self._read_at = 0.0

    async def headers(self) -> Headers:
        """Return the token as the file has it, at most a minute ago."""
        now = self._clock.monotonic()
        if not self._headers or now >= self._read_at:
            try:
                token = self._path.read_text().strip()
            except OSError as error:
                if not self._headers:
                    raise CredentialError(f"the token cannot be read: {error}") from None
            else:
                if token:
                    self._headers = bearer(token)
            self._read_at = now + _TOKEN_SECONDS
        return self._headers

    def refused(self) -> bool:
        """Read the file again: it may have a new token by now."""
        old = self._headers
        self._headers = {}
        try:
            return bearer(self._path.read_text().strip()) != old
        except OSError:
            return False


class Basic(Credentials):
    """A name and a password."""

    def __init__(self, trust: Authority, name: str, password: str) -> None:
        super().__init__(trust)
        self._headers = {b"authorization": b"Basic " + base64.b64encode(f"{name}:{password}".encode())}

    async def headers(self) -> Headers:
        """Return the name and the password."""
        return self._headers


class Exec(Credentials):
    """What a program says: a token, a client certificate, or both, kept until they expire."""

    def __init__(
        self,
        trust: Authority,
        config: Mapping[str, Any],
        cluster: Mapping[str, Any],
        clock: Clock | None = None,
    ) -> None:
        super().__init__(trust)
        self._plain = trust
        self._config, self._cluster = config, cluster
        self._clock = clock or Clock()
        self._headers: Headers | None = None
        self._expires = 0.0
        self._running: asyncio.Future[None] | None = None
        exec_credential.check(config)

    async def headers(self) -> Headers:
        """Return the token; the program is run if there is none or if it has expired."""
        if self._headers is None or (self._expires and self._clock.now() >= self._expires):
            # Many requests may need the program at once: it is run for all of them.
            if self._running is None:
                self._running = asyncio.ensure_future(self._run())
                self._running.add_done_callback(self._ran)
            await asyncio.shield(self._running)
        assert self._headers is not None
        return self._headers

    def _ran(self, running: asyncio.Future[None]) -> None:
        self._running = None
        if not running.cancelled():
            running.exception()  # told to whoever waits

    def refused(self) -> bool:
        """Ask the program again: it may say something else."""
        self._headers = None
        return True

    async def _run(self) -> None:
        command = self._config["command"]
        try:
            interactive = exec_credential.is_interactive(
                self._config, sys.stdin is not None and sys.stdin.isatty()
            )
        except ValueError as error:
            raise CredentialError(str(error)) from None
        authority = self._trust.path.read_bytes() if self._trust.path is not None else b""
        info = exec_credential.request(self._config, self._cluster, authority, interactive)
        environment = exec_credential.environment(self._config, os.environ, orjson.dumps(info).decode())
        path = exec_credential.program(command)
        if not path:
            raise CredentialError(
                f"exec: executable {command} not found\n{self._config.get('installHint') or ''}".strip()
            )
        try:
            process = await asyncio.create_subprocess_exec(
                path, *(self._config.get("args") or ()), env=environment,
                stdin=None if interactive else asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
            )  # fmt: skip
        except OSError as error:
            hint = self._config.get("installHint") or ""
            raise CredentialError(f"exec: executable {command} failed: {error}\n{hint}".strip()) from None
        try:
            async with asyncio.timeout(_EXEC_SECONDS):
                output, _ = await process.communicate()
        except TimeoutError:
            process.kill()
            raise CredentialError(
                f"exec: executable {command} did not answer in {_EXEC_SECONDS:g} s"
            ) from None
        if process.returncode:
            raise CredentialError(f"exec: executable {command} failed with exit code {process.returncode}")
        self._take(output)

    def _take(self, output: bytes) -> None:
        try:
            status = exec_credential.status_of(exec_credential.read(output), self._config)
        except ValueError as error:
            raise CredentialError(str(error)) from None
        token, certificate = status.get("token"), status.get("clientCertificateData")
        if certificate:
            self._trust = Certificate(self._plain, certificate, status["clientKeyData"])
        self._headers = bearer(token) if token else {}
        moment = status.get("expirationTimestamp")
        self._expires = rfc3339.parse(moment) if moment else 0.0


def bearer(token: str) -> Headers:
    """Return the header with a bearer token."""
    return {b"authorization": b"Bearer " + token.encode()}
