"""A TLS server whose certificates, keys and client authorities follow their files.

The files are looked at when a client connects: that is when they matter, and nothing has to watch them meanwhile. A
certificate of our own making is also made anew then, a while before it ends.
"""

from __future__ import annotations

import hashlib
import logging
import math
import os
import re
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pybernetes.lib.files.regular import read_whole
from pybernetes.lib.tls import certificate_subject, client_authorities, tls
from pybernetes.lib.tls.plain_http_answer import AnsweringContext

log = logging.getLogger(__name__)
_RENEW_SECONDS = tls.RENEW_DAYS * 86400 - 60  # before its end; by then tls has no doubt that it is time
_AGAIN_SECONDS = 3600.0  # between two tries to make a certificate
_CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)


class CABundle:
    """The authorities of a file, as they were when it was last read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.certificates: tuple[bytes, ...] = ()
        self.fingerprints: frozenset[bytes] = frozenset()
        self.read()

    def read(self) -> None:
        """Read the file; ValueError if it holds no certificate."""
        blocks = _CERTIFICATE.findall(self.path.read_bytes())
        if not blocks:
            raise ValueError(f"{self.path}: data does not contain any valid certificates")
        self.certificates = tuple(ssl.PEM_cert_to_DER_cert(block.decode()) for block in blocks)
        self.fingerprints = frozenset(
            hashlib.sha256(certificate).digest() for certificate in self.certificates
        )


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A certificate and its key in files, and the host names that it is for; without names those that it says."""

    certificate: Path
    key: Path
    names: tuple[str, ...] = ()
    # Makes both anew if they end soon; None: somebody else does.
    renew: Callable[[], object] | None = field(default=None, compare=False)


def own_pair(directory: Path, names: Iterable[str], stem: str) -> tuple[KeyPair, Path]:
    """Return a serving certificate for these names in a directory, made if need be, and the file of its authority."""
    wanted = tuple(names)
    certificate, key, authority = tls.ensure_serving(directory, wanted, stem)
    return KeyPair(certificate, key, renew=lambda: tls.renew_serving(directory, wanted, stem)), authority


class ServingCertificates:
    """The context of a TLS server; new connections get what the files say now.

    Clients may show a certificate; whether it is of one of the bundles, ``verified_chain`` tells. Sessions are not resumed:
    the chain of a client's certificate is known only where it was verified.
    """

    def __init__(
        self,
        default: KeyPair,
        named: Sequence[KeyPair] = (),
        bundles: Sequence[CABundle] = (),
        *,
        ciphers: str | None = "",
        minimum: ssl.TLSVersion = ssl.TLSVersion.TLSv1_2,
        protocols: Iterable[str] = ("http/1.1",),
    ) -> None:
        # The file of the certificate that clients see who ask for no name.
        self.certificate = default.certificate
        self._default, self._named, self._bundles = default, tuple(named), tuple(bundles)
        self._ciphers, self._protocols = ciphers, list(protocols)
        self._minimum = max(minimum, ssl.TLSVersion.TLSv1_3) if ciphers is None else minimum
        self._files = [file for pair in (default, *named) for file in (pair.certificate, pair.key)]
        self._files += [bundle.path for bundle in bundles]
        self._seen = self._state()
        self._renew_at = self._due()
        # Called when the files have changed.
        self.listeners: list[Callable[[], None]] = []
        self.context = self._current = self._context(default)
        self._by_name = self._contexts()
        self.context.sni_callback = self._choose

    def _context(self, pair: KeyPair) -> ssl.SSLContext:
        context = AnsweringContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = self._minimum
        context.num_tickets = 0
        context.options |= ssl.OP_NO_TICKET | ssl.OP_NO_RENEGOTIATION
        context.load_cert_chain(pair.certificate, pair.key)
        context.set_alpn_protocols(self._protocols)
        if self._ciphers:
            context.set_ciphers(self._ciphers)
        if self._bundles:
            context.verify_mode = ssl.CERT_OPTIONAL
            # Any certificate of a bundle is trusted for its own sake, as in Go, not only roots.
            context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
            for bundle in filter(lambda bundle: bundle.certificates, self._bundles):
                context.load_verify_locations(cadata=b"".join(bundle.certificates))
                client_authorities.announce(context, bundle.certificates)
            client_authorities.tolerate(context)
        return context

    def _contexts(self) -> dict[str, ssl.SSLContext]:
        """Return the contexts by host name: names that were given win over those in certificates, earlier pairs over later."""
        named: dict[str, ssl.SSLContext] = {}
        given: dict[str, ssl.SSLContext] = {}
        for pair in reversed(self._named):
            context = self._context(pair)
            into, names = (given, pair.names) if pair.names else (named, certificate_names(pair.certificate))
            into.update((name.lower(), context) for name in names)
        return named | given

    def _choose(self, connection: Any, name: str | None, _: ssl.SSLContext) -> None:
        """Choose the context of a connection; called in every handshake."""
        self.refresh()
        chosen = match(self._by_name, name.lower()) if name and self._by_name else None
        chosen = chosen or self._current
        if connection.context is not chosen:
            connection.context = chosen

    def serve(self, default: KeyPair) -> None:
        """Serve with another certificate from now on."""
        self.certificate, self._default = default.certificate, default
        self._files[:2] = default.certificate, default.key
        self._seen = []
        self._renew_at = self._due()
        self.refresh()

    def _due(self) -> float:
        """Return when the certificate is to be made anew."""
        if self._default.renew is None:
            return math.inf
        return tls.validity(self._default.certificate)[1] - _RENEW_SECONDS

    def _renew(self) -> None:
        """Have the certificate made anew, beside the server: the client whose visit this is gets the old one."""
        renew = self._default.renew
        self._renew_at = time.time() + _AGAIN_SECONDS

        def make() -> None:
            try:
                if renew is not None:
                    renew()
            except (OSError, ValueError) as error:
                log.warning("the serving certificate ends soon and could not be made anew: %s", error)

        threading.Thread(target=make, name="certificate-renewal", daemon=True).start()

    def refresh(self) -> None:
        """Take over what the files say if they have changed; what cannot be used is logged and left alone."""
        if time.time() >= self._renew_at:
            self._renew()
        state = self._state()
        if state == self._seen:
            return
        self._seen = state
        before = [(bundle.certificates, bundle.fingerprints) for bundle in self._bundles]
        try:
            for file in self._files:
                read_whole(file)  # whether it can be read at once
            for bundle in self._bundles:
                bundle.read()
            current, by_name = self._context(self._default), self._contexts()
        except (OSError, ValueError) as error:
            for bundle, (certificates, fingerprints) in zip(self._bundles, before, strict=True):
                bundle.certificates, bundle.fingerprints = certificates, fingerprints
            log.warning("serving with the certificates from before: the new files cannot be used: %s", error)
            return
        self._current, self._by_name, self._renew_at = current, by_name, self._due()
        log.info("serving with new certificates")
        for listener in self.listeners:
            listener()

    def _state(self) -> list[tuple[int, int, int] | None]:
        states: list[tuple[int, int, int] | None] = []
        for file in self._files:
            try:
                status = os.stat(file)
                states.append((status.st_mtime_ns, status.st_size, status.st_ino))
            except OSError:
                states.append(None)
        return states


def verified_chain(tls: ssl.SSLObject) -> frozenset[bytes]:
    """Return the fingerprints of the chain that was verified, from the client's certificate to its authority.

    It is empty for a certificate that is not good (of another authority, expired, not for clients) and for a resumed
    session, which our contexts do not allow: then nobody vouches for the certificate, and what it says is only a claim.
    """
    public = getattr(tls, "get_verified_chain", None)  # Python 3.13
    if public is not None:
        chain = public()
    else:
        chain = [item.public_bytes(2) for item in tls._sslobj.get_verified_chain() or ()]  # type: ignore[attr-defined]
    return frozenset(hashlib.sha256(item).digest() for item in chain)


def match(contexts: dict[str, ssl.SSLContext], name: str) -> ssl.SSLContext | None:
    """Return the context of a host name: its own, or that of a pattern whose first labels are ``*``."""
    labels = name.rstrip(".").split(".")
    context = contexts.get(".".join(labels))
    for index in range(len(labels)):
        if context is not None:
            break
        labels[index] = "*"
        context = contexts.get(".".join(labels))
    return context


def certificate_names(path: Path) -> list[str]:
    """Return the host names that a certificate is for: its common name, unless that is an address, and its DNS names."""
    from cryptography import x509

    certificate = x509.load_pem_x509_certificate(path.read_bytes())
    common_name = certificate_subject.of_name(certificate.subject).common_name
    names = [name for name in (common_name,) if re.fullmatch(r"\*|(\*\.)?[a-z0-9.-]*[a-z][a-z0-9.-]*", name)]
    try:
        listed = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return names
    return names + listed.get_values_for_type(x509.DNSName)
