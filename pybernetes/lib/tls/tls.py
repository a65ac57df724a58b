"""Certificates of our own making, and TLS contexts that use them.

``cryptography`` takes a while to import, so it is imported only where a certificate is made or read.
"""

from __future__ import annotations

import contextlib
import datetime
import ipaddress
import os
import re
import ssl
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes

AUTHORITY_DAYS = 3650
CERTIFICATE_DAYS = 365
# A certificate with less than this left is replaced: when the program starts, or when a client connects.
RENEW_DAYS = 30
_KEY = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----")
_BEGIN = "-----BEGIN CERTIFICATE-----"
_PART = 16 << 10
_SKEW = datetime.timedelta(minutes=5)  # clocks of machines differ


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its key, in PEM."""

    certificate: bytes
    key: bytes


def create_authority(name: str, days: int = AUTHORITY_DAYS) -> Pair:
    """Return a new certificate authority."""
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    subject = _subject(name, ())
    builder = _builder(subject, subject, key.public_key(), days)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    builder = builder.add_extension(_usage(signs=True), critical=True)
    return _signed(builder, key, key)


def issue(
    authority: Pair,
    common_name: str,
    *,
    organizations: Iterable[str] = (),
    names: Iterable[str] = (),
    server: bool = False,
    client: bool = False,
    days: int = CERTIFICATE_DAYS,
) -> Pair:
    """Return a certificate signed by an authority; ``names`` are the host names and addresses that it is good for."""
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID

    issuer, issuer_key = load(authority)
    key = ec.generate_private_key(ec.SECP256R1())
    builder = _builder(_subject(common_name, organizations), issuer.subject, key.public_key(), days)
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    builder = builder.add_extension(_usage(signs=False), critical=True)
    uses = [ExtendedKeyUsageOID.SERVER_AUTH] * server + [ExtendedKeyUsageOID.CLIENT_AUTH] * client
    if uses:
        builder = builder.add_extension(x509.ExtendedKeyUsage(uses), critical=False)
    alternatives = [_general_name(name) for name in dict.fromkeys(names)]
    if alternatives:
        builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
    identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.public_key())  # type: ignore[arg-type]
    builder = builder.add_extension(identifier, critical=False)
    return _signed(builder, key, issuer_key)


def load(pair: Pair) -> tuple[x509.Certificate, PrivateKeyTypes]:
    """Return a certificate and its key as objects; ValueError if they are broken or do not belong together."""
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    certificate = x509.load_pem_x509_certificate(pair.certificate)
    key = load_pem_private_key(pair.key, None)
    if certificate.public_key() != key.public_key():
        raise ValueError("the certificate and the key do not belong together")
    return certificate, key


def covers(certificate: x509.Certificate, names: Iterable[str], days: int = RENEW_DAYS) -> bool:
    """Return whether a certificate is good for all of these names, now and for some days more."""
    from cryptography import x509

    now = datetime.datetime.now(datetime.UTC)
    left = datetime.timedelta(days=days)
    if not certificate.not_valid_before_utc <= now <= certificate.not_valid_after_utc - left:
        return False
    try:
        listed = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        listed = x509.SubjectAlternativeName([])
    have = {*listed.get_values_for_type(x509.DNSName), *listed.get_values_for_type(x509.IPAddress)}
    return all((_address(name) or name) in have for name in names)


def ensure_authority(directory: Path, name: str = "pybernetes-ca", stem: str = "ca") -> tuple[Path, Path]:
    """Return the files of the authority of a directory, made if there is none or if it is about to expire."""
    certificate, key = directory / f"{stem}.crt", directory / f"{stem}.key"
    existing = _read(certificate, key)
    if existing is None or not covers(load(existing)[0], ()):
        _write_pair(create_authority(name), certificate, key)
    return certificate, key


def ensure_serving(directory: Path, names: Iterable[str], stem: str = "apiserver") -> tuple[Path, Path, Path]:
    """Return the files of a serving certificate for these names, its key and the authority's certificate.

    What is in the directory is used as long as it is valid, good for the names and signed by the authority
    that is there.
    """
    ensure_authority(directory)
    return renew_serving(directory, names, stem)


def renew_serving(directory: Path, names: Iterable[str], stem: str) -> tuple[Path, Path, Path]:
    """Do what ``ensure_serving`` does with the authority that is there: clients of a running server trust no other."""
    authority_certificate = directory / "ca.crt"
    certificate, key = directory / f"{stem}.crt", directory / f"{stem}.key"
    authority = Pair(authority_certificate.read_bytes(), (directory / "ca.key").read_bytes())
    ensure_pair(certificate, key, authority, "kube-apiserver", names)
    return certificate, key, authority_certificate


def validity(certificate: Path) -> tuple[float, float]:
    """Return from when to when the first certificate of a file is valid; OSError if it has none.

    Without the library that makes certificates: processes that never make any need not load it.
    """
    fields = ssl._ssl._test_decode_cert(str(certificate))  # type: ignore[attr-defined]
    return ssl.cert_time_to_seconds(fields["notBefore"]), ssl.cert_time_to_seconds(fields["notAfter"])


def is_current(certificate: Path) -> bool:
    """Return whether a file has a certificate that is valid today."""
    try:
        begin, end = validity(certificate)
    except OSError:
        return False
    return begin <= time.time() < end


def ensure_pair(certificate: Path, key: Path, authority: Pair, subject: str, names: Iterable[str]) -> None:
    """Write a serving certificate and its key, unless those that are there are good for these names."""
    wanted = [name for name in dict.fromkeys(names) if name]
    existing = _read(certificate, key)
    if existing is None or not covers(load(existing)[0], wanted) or not _signed_by(existing, authority):
        _write_pair(issue(authority, subject, names=wanted, server=True), certificate, key)


def ensure_joined_pair(file: Path, authority: Pair, subject: str, names: Iterable[str]) -> None:
    """Write a serving certificate and its key into one file, unless what is there is good for these names."""
    data = file.read_bytes() if file.exists() else b""
    key, wanted = _KEY.search(data), list(names)
    if key is not None:
        existing = Pair(data[: key.start()], data[key.start() :])
        with contextlib.suppress(ValueError):  # broken, or not a pair
            if covers(load(existing)[0], wanted) and _signed_by(existing, authority):
                return
    own = issue(authority, subject, names=wanted, server=True)
    write_atomically(file, own.certificate + own.key, 0o600)


def ensure_client(certificate: Path, key: Path, directory: Path, user: str) -> None:
    """Write a user's client certificate, signed by the authority of a directory, unless a good one is there."""
    authority_certificate, authority_key = ensure_authority(directory)
    authority = Pair(authority_certificate.read_bytes(), authority_key.read_bytes())
    existing = _read(certificate, key)
    if existing is None or not covers(load(existing)[0], ()) or not _signed_by(existing, authority):
        _write_pair(issue(authority, user, client=True), certificate, key)


def server_context(
    certificate: Path | str,
    key: Path | str,
    client_ca: Path | str | None = None,
    ciphers: str = "",
    min_version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_2,
    protocols: Iterable[str] = ("http/1.1",),
    by_name: Mapping[str, tuple[Path | str, Path | str]] | None = None,
) -> ssl.SSLContext:
    """Return the context of a TLS server.

    With ``client_ca``, clients may show a certificate, which must then be signed by that authority.
    ``by_name`` gives other certificates to clients that ask for a host name (``*.example.com`` works too).
    ``ciphers`` is OpenSSL's list, for TLS 1.2.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = min_version
    context.options |= ssl.OP_NO_RENEGOTIATION  # it costs the server more than the client
    context.load_cert_chain(certificate, key)
    context.set_alpn_protocols(list(protocols))
    if ciphers:
        context.set_ciphers(ciphers)
    if client_ca:
        context.verify_mode = ssl.CERT_OPTIONAL
        context.load_verify_locations(client_ca)
    if by_name:
        others = {
            name.lower(): server_context(*files, client_ca, ciphers, min_version, protocols)
            for name, files in by_name.items()
        }

        def choose(connection: ssl.SSLObject | ssl.SSLSocket, name: str | None, _: ssl.SSLContext) -> None:
            asked = (name or "").lower()
            other = others.get(asked) or others.get("*." + asked.partition(".")[2])
            if other is not None:
                connection.context = other

        context.sni_callback = choose
    return context


def client_context(
    authority: Path | str | None = None,
    *,
    authority_data: str | None = None,
    certificate: Path | str | None = None,
    key: Path | str | None = None,
    verify: bool = True,
    kind: type[ssl.SSLContext] = ssl.SSLContext,
) -> ssl.SSLContext:
    """Return the context of a TLS client: whom it trusts (by default the system's authorities), and who it is.

    ``kind`` is the class of the context: ``PacedContext`` for servers that somebody else wrote.
    """
    context = kind(ssl.PROTOCOL_TLS_CLIENT)
    context.set_alpn_protocols(["http/1.1"])
    context.hostname_checks_common_name = False  # only the subject's alternative names count
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif not authority and not authority_data:
        context.load_default_certs()
    else:
        if authority:
            context.load_verify_locations(cafile=authority)
        for part in _parts(authority_data or ""):
            context.load_verify_locations(cadata=part)
    if certificate:
        context.load_cert_chain(certificate, key)
    return context


def _parts(bundle: str) -> Iterator[str]:
    """Yield certificates, some at a time: while the library reads them, no other thread of Python runs."""
    begin, first = 0, bundle.find(_BEGIN)
    while begin < len(bundle):
        end = bundle.find(_BEGIN, max(begin + _PART, first + 1))
        end = len(bundle) if end < 0 else end
        yield bundle[begin:end]
        begin = end


def reload(context: ssl.SSLContext, certificate: Path | str, key: Path | str) -> None:
    """Use new files for the connections to come; those that are open keep what they have."""
    context.load_cert_chain(certificate, key)


def write_atomically(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Write a file so that readers see the old content or the new, never a part, and with its mode at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _write_pair(pair: Pair, certificate: Path, key: Path) -> None:
    write_atomically(key, pair.key, 0o600)
    write_atomically(certificate, pair.certificate)


def _read(certificate: Path, key: Path) -> Pair | None:
    """Return the pair in two files, or None if it is not there, broken or mismatched (a crash between two writes)."""
    try:
        pair = Pair(certificate.read_bytes(), key.read_bytes())
        load(pair)
    except (FileNotFoundError, ValueError):
        return None
    return pair


def _signed_by(pair: Pair, authority: Pair) -> bool:
    from cryptography.exceptions import InvalidSignature

    try:
        load(pair)[0].verify_directly_issued_by(load(authority)[0])
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def _general_name(name: str) -> Any:
    from cryptography import x509

    address = _address(name)
    return x509.IPAddress(address) if address else x509.DNSName(name)


def _subject(common_name: str, organizations: Iterable[str]) -> x509.Name:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    listed = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, name) for name in organizations]
    return x509.Name([*listed, x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _builder(subject: x509.Name, issuer: x509.Name, public_key: Any, days: int) -> x509.CertificateBuilder:
    from cryptography import x509

    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder(issuer, subject, public_key, x509.random_serial_number())
    builder = builder.not_valid_before(now - _SKEW).not_valid_after(now + datetime.timedelta(days=days))
    return builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)


def _usage(signs: bool) -> x509.KeyUsage:
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=True, content_commitment=False, key_encipherment=not signs, data_encipherment=False,
        key_agreement=False, key_cert_sign=signs, crl_sign=signs, encipher_only=False, decipher_only=False,
    )  # fmt: skip


def _signed(builder: x509.CertificateBuilder, key: Any, issuer_key: Any) -> Pair:
    from cryptography.hazmat.primitives import hashes, serialization

    certificate = builder.sign(issuer_key, hashes.SHA256())
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    return Pair(certificate.public_bytes(serialization.Encoding.PEM), private)
