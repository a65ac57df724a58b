"""Certificates and keys as kubeadm makes them: algorithms, uses, and the files that they are kept in."""

from __future__ import annotations

import datetime
import ipaddress
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pybernetes.lib.tls.tls import Pair, load, write_atomically
from pybernetes.tools.kubeadm.errors import KubeadmError

if TYPE_CHECKING:
    from cryptography import x509

_BACKDATE = datetime.timedelta(minutes=5)
_CURVES = {"ECDSA-P256": "SECP256R1", "ECDSA-P384": "SECP384R1"}


def new_key(algorithm: str) -> Any:
    """Return a new private key."""
    from cryptography.hazmat.primitives.asymmetric import ec, rsa

    if algorithm in _CURVES:
        return ec.generate_private_key(getattr(ec, _CURVES[algorithm])())
    return rsa.generate_private_key(65537, int(algorithm.removeprefix("RSA-")))


def key_pem(key: Any) -> bytes:
    """Return a private key as text."""
    from cryptography.hazmat.primitives import serialization

    return bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
    )


def public_pem(key: Any) -> bytes:
    """Return the public half of a key as text."""
    from cryptography.hazmat.primitives import serialization

    return bytes(
        key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
    )


def _usage(signs: bool) -> x509.KeyUsage:
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=True, content_commitment=False, key_encipherment=True, data_encipherment=False,
        key_agreement=False, key_cert_sign=signs, crl_sign=False, encipher_only=False, decipher_only=False,
    )  # fmt: skip


def _pem(certificate: x509.Certificate) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding

    return certificate.public_bytes(Encoding.PEM)


def _name(common_name: str, organizations: Iterable[str] = ()) -> x509.Name:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    listed = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, name) for name in organizations]
    return x509.Name([*listed, x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def new_authority(common_name: str, algorithm: str, seconds: float) -> Pair:
    """Return a new authority that signs itself."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes

    key, now = new_key(algorithm), datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder(
        _name(common_name), _name(common_name), key.public_key(), x509.random_serial_number()
    )
    builder = builder.not_valid_before(now - _BACKDATE).not_valid_after(
        now + datetime.timedelta(seconds=seconds)
    )
    builder = builder.add_extension(_usage(True), critical=True)
    builder = builder.add_extension(x509.BasicConstraints(True, None), critical=True)
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    builder = builder.add_extension(identifier, critical=False)
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(common_name)]), critical=False)
    return Pair(_pem(builder.sign(key, hashes.SHA256())), key_pem(key))


def general_names(names: Iterable[str]) -> list[Any]:
    """Return names and addresses as certificates hold them."""
    from cryptography import x509

    result: list[Any] = []
    for name in names:
        try:
            result.append(x509.IPAddress(ipaddress.ip_address(name)))
        except ValueError:
            result.append(x509.DNSName(name))
    return result


def issue(
    authority: Pair,
    common_name: str,
    *,
    algorithm: str,
    seconds: float,
    organizations: Iterable[str] = (),
    names: Iterable[str] = (),
    server: bool = False,
    client: bool = False,
    key: Any = None,
) -> Pair:
    """Return a certificate that an authority signed; it lasts no longer than the authority."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.x509.oid import ExtendedKeyUsageOID

    issuer, issuer_key = load(authority)
    key = key or new_key(algorithm)
    now = datetime.datetime.now(datetime.UTC)
    end = min(now + datetime.timedelta(seconds=seconds), issuer.not_valid_after_utc)
    builder = x509.CertificateBuilder(
        issuer.subject, _name(common_name, organizations), key.public_key(), x509.random_serial_number()
    )
    builder = builder.not_valid_before(max(now - _BACKDATE, issuer.not_valid_before_utc)).not_valid_after(end)
    builder = builder.add_extension(_usage(False), critical=True)
    uses = [ExtendedKeyUsageOID.SERVER_AUTH] * server + [ExtendedKeyUsageOID.CLIENT_AUTH] * client
    builder = builder.add_extension(x509.ExtendedKeyUsage(uses), critical=False)
    builder = builder.add_extension(x509.BasicConstraints(False, None), critical=True)
    identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.public_key())  # type: ignore[arg-type]
    builder = builder.add_extension(identifier, critical=False)
    listed = general_names(names)
    if listed:
        builder = builder.add_extension(x509.SubjectAlternativeName(listed), critical=False)
    return Pair(_pem(builder.sign(issuer_key, hashes.SHA256())), key_pem(key))  # type: ignore[arg-type]


def request(
    common_name: str, organizations: Iterable[str], names: Iterable[str], algorithm: str
) -> tuple[bytes, bytes]:
    """Return the key and the request for a certificate that somebody else signs."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.serialization import Encoding

    key = new_key(algorithm)
    builder = x509.CertificateSigningRequestBuilder(_name(common_name, organizations))
    listed = general_names(names)
    if listed:
        builder = builder.add_extension(x509.SubjectAlternativeName(listed), critical=False)
    return key_pem(key), builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)


def write_pair(folder: Path, base: str, pair: Pair) -> None:
    """Write a certificate and its key, which nobody else may read."""
    folder.joinpath(base).parent.mkdir(parents=True, exist_ok=True, mode=0o755)
    write_atomically(folder / f"{base}.key", pair.key, 0o600)
    write_atomically(folder / f"{base}.crt", pair.certificate, 0o644)


def read_pair(folder: Path, base: str) -> Pair | None:
    """Return a certificate and its key; None if either is missing, KubeadmError if they are broken."""
    try:
        pair = Pair((folder / f"{base}.crt").read_bytes(), (folder / f"{base}.key").read_bytes())
    except FileNotFoundError:
        return None
    try:
        load(pair)
    except ValueError as error:
        raise KubeadmError(f"couldn't load {folder / base} certificate and key: {error}") from None
    return pair


def read_certificate(path: Path) -> x509.Certificate | None:
    """Return the certificate of a file; None if there is none, KubeadmError if it is broken."""
    from cryptography import x509

    try:
        return x509.load_pem_x509_certificate(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise KubeadmError(f"couldn't load the certificate file {path}: {error}") from None


def is_issued_by(certificate: x509.Certificate, authority: x509.Certificate) -> bool:
    """Return whether an authority has signed a certificate."""
    from cryptography.exceptions import InvalidSignature

    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def alternative_names(certificate: x509.Certificate) -> set[str]:
    """Return the names and addresses that a certificate is for."""
    from cryptography import x509

    try:
        listed = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return set()
    addresses = {str(address) for address in listed.get_values_for_type(x509.IPAddress)}
    return {*listed.get_values_for_type(x509.DNSName), *addresses}


def public_key_hash(certificate: x509.Certificate) -> str:
    """Return the hash that those who join know an authority by."""
    import hashlib

    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    encoded = certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return f"sha256:{hashlib.sha256(encoded).hexdigest()}"


def bundle_hashes(text: bytes) -> list[str]:
    """Return the hashes of all authorities in a text."""
    from cryptography import x509

    try:
        return [public_key_hash(certificate) for certificate in x509.load_pem_x509_certificates(text)]
    except ValueError as error:
        raise KubeadmError(f"unable to parse CA certificate: {error}") from None
