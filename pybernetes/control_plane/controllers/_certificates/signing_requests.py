"""Certificate signing requests: what they ask for, whether that may be signed, and the signature."""

from __future__ import annotations

import base64
import datetime
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ed448, ed25519
from cryptography.x509.oid import ExtendedKeyUsageOID

from pybernetes.api.resource import Object
from pybernetes.lib.tls import certificate_subject

CLIENT = "kubernetes.io/kube-apiserver-client"
KUBELET_CLIENT = "kubernetes.io/kube-apiserver-client-kubelet"
KUBELET_SERVING = "kubernetes.io/kubelet-serving"
LEGACY = "kubernetes.io/legacy-unknown"
_BACKDATE, _SHORT, _SHORTEST = 5 * 60.0, 8 * 3600.0, 10 * 60.0
_USAGES = {
    "signing": "digital_signature",
    "digital signature": "digital_signature",
    "content commitment": "content_commitment",
    "key encipherment": "key_encipherment",
    "key agreement": "key_agreement",
    "data encipherment": "data_encipherment",
    "cert sign": "key_cert_sign",
    "crl sign": "crl_sign",
    "encipher only": "encipher_only",
    "decipher only": "decipher_only",
}
_EXTENDED = {
    "any": ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE,
    "server auth": ExtendedKeyUsageOID.SERVER_AUTH,
    "client auth": ExtendedKeyUsageOID.CLIENT_AUTH,
    "code signing": ExtendedKeyUsageOID.CODE_SIGNING,
    "email protection": ExtendedKeyUsageOID.EMAIL_PROTECTION,
    "s/mime": ExtendedKeyUsageOID.EMAIL_PROTECTION,
    "ipsec end system": x509.ObjectIdentifier("1.3.6.1.5.5.7.3.5"),
    "ipsec tunnel": x509.ObjectIdentifier("1.3.6.1.5.5.7.3.6"),
    "ipsec user": x509.ObjectIdentifier("1.3.6.1.5.5.7.3.7"),
    "timestamping": ExtendedKeyUsageOID.TIME_STAMPING,
    "ocsp signing": ExtendedKeyUsageOID.OCSP_SIGNING,
    "microsoft sgc": x509.ObjectIdentifier("1.3.6.1.4.1.311.10.3.3"),
    "netscape sgc": x509.ObjectIdentifier("2.16.840.1.113730.4.1"),
}


def conditions(csr: Object) -> set[str]:
    """Return the types of the conditions that a request has."""
    conditions = csr.get("status", {}).get("conditions") or ()
    return {condition["type"] for condition in conditions if condition.get("status", "True") in ("", "True")}


def is_approved(csr: Object) -> bool:
    """Return whether a request was approved and not denied."""
    types = {condition["type"] for condition in csr.get("status", {}).get("conditions") or ()}
    return "Approved" in types and "Denied" not in types


def is_open(csr: Object) -> bool:
    """Return whether nobody has decided about a request."""
    status = csr.get("status", {})
    decided = any(condition["type"] in ("Approved", "Denied") for condition in status.get("conditions") or ())
    return not decided and not status.get("certificate")


def approved(csr: Object, message: str) -> Object:
    """Return a request with the approval of a controller."""
    status = csr.get("status", {})
    approval = {"type": "Approved", "status": "True", "reason": "AutoApproved", "message": message}
    return {**csr, "status": {**status, "conditions": [*(status.get("conditions") or ()), approval]}}


def parse(csr: Object) -> x509.CertificateSigningRequest:
    """Parse the request itself; raise ValueError if it is none."""
    data = base64.b64decode(csr["spec"]["request"])
    return x509.load_pem_x509_csr(data)


def common_name(request: x509.CertificateSigningRequest) -> str:
    """Return the common name that the request asks for."""
    return certificate_subject.of_name(request.subject).common_name


def _is_of_nodes(request: x509.CertificateSigningRequest) -> bool:
    return certificate_subject.of_name(request.subject).organizations == ("system:nodes",)


def names_of(request: x509.CertificateSigningRequest) -> dict[str, list[Any]]:
    """Return the other names that a request asks for, by kind."""
    try:
        names = request.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return {"dns": [], "ip": [], "email": [], "uri": []}
    return {
        "dns": names.get_values_for_type(x509.DNSName),
        "ip": names.get_values_for_type(x509.IPAddress),
        "email": names.get_values_for_type(x509.RFC822Name),
        "uri": names.get_values_for_type(x509.UniformResourceIdentifier),
    }


def _general_names(request: x509.CertificateSigningRequest) -> list[x509.GeneralName]:
    """Return the names of the kinds that were judged: no other kind of name gets into a certificate."""
    asked = names_of(request)
    kinds: tuple[tuple[str, Callable[[Any], x509.GeneralName]], ...] = (
        ("dns", x509.DNSName),
        ("email", x509.RFC822Name),
        ("ip", x509.IPAddress),
        ("uri", x509.UniformResourceIdentifier),
    )
    return [make(value) for kind, make in kinds for value in asked[kind]]


def _usages_fault(usages: Iterable[str], purpose: str) -> str:
    own, required = set(usages), {"digital signature", "key encipherment", purpose}
    if own in (required, required - {"key encipherment"}):
        return ""
    return f"usages did not match [{' '.join(sorted(required))}]"


def kubelet_client_fault(request: x509.CertificateSigningRequest, usages: Iterable[str]) -> str:
    """Return why a request is not one for a kubelet's client certificate, or an empty string."""
    names = names_of(request)
    if not _is_of_nodes(request):
        return "subject organization is not system:nodes"
    for kind, title in (("dns", "DNS"), ("email", "Email"), ("ip", "IP"), ("uri", "URI")):
        if names[kind]:
            return f"{title} subjectAltNames are not allowed"
    if not common_name(request).startswith("system:node:"):
        return "subject common name does not begin with system:node:"
    return _usages_fault(usages, "client auth")


def kubelet_serving_fault(request: x509.CertificateSigningRequest, usages: Iterable[str]) -> str:
    """Return why a request is not one for a kubelet's serving certificate, or an empty string."""
    names = names_of(request)
    if not _is_of_nodes(request):
        return "subject organization is not system:nodes"
    if not names["dns"] and not names["ip"]:
        return "DNS or IP subjectAltName is required"
    if names["email"]:
        return "Email subjectAltNames are not allowed"
    if names["uri"]:
        return "URI subjectAltNames are not allowed"
    if fault := _usages_fault(usages, "server auth"):
        return fault
    return (
        ""
        if common_name(request).startswith("system:node:")
        else "subject common name does not begin with system:node:"
    )


def client_fault(request: x509.CertificateSigningRequest, usages: Iterable[str]) -> str:
    """Return why a request is not one for a client certificate, or an empty string."""
    own = list(usages)
    for usage in own:
        if usage not in ("digital signature", "key encipherment", "client auth"):
            return f"invalid usage for client certificate: {usage}"
    return "" if "client auth" in own else "missing required usage for client certificate: client auth"


FAULTS = {
    KUBELET_SERVING: kubelet_serving_fault,
    KUBELET_CLIENT: kubelet_client_fault,
    CLIENT: client_fault,
    LEGACY: lambda request, usages: "",
}


def lifetime(asked: int | None, longest: float) -> float:
    """Return how many seconds a certificate is good for."""
    return longest if asked is None else max(_SHORTEST, min(float(asked), longest))


@dataclass
class Authority:
    """A certificate authority in two files, read again when they change."""

    certificate_file: Path
    key_file: Path
    _stamp: tuple[float, float] = (0.0, 0.0)
    _certificate: x509.Certificate | None = None
    _key: Any = None

    def load(self) -> tuple[x509.Certificate, Any]:
        """Read the current certificate and key; raise ValueError if they are invalid."""
        stamp = (self.certificate_file.stat().st_mtime, self.key_file.stat().st_mtime)
        if self._certificate is None or stamp != self._stamp:
            data = self.certificate_file.read_bytes()
            self._certificate = x509.load_pem_x509_certificates(data)[0]
            self._key = serialization.load_pem_private_key(self.key_file.read_bytes(), None)
            self._stamp = stamp
        return self._certificate, self._key


def sign(
    authority: Authority,
    request: x509.CertificateSigningRequest,
    usages: Iterable[str],
    seconds: float,
    now: float,
) -> bytes:
    """Return the certificate that a request asks for, in PEM; raise ValueError if it cannot be signed."""
    certificate, key = authority.load()
    if not request.is_signature_valid:
        raise ValueError("unable to verify certificate request signature")
    moment = datetime.datetime.fromtimestamp(now, datetime.UTC).replace(microsecond=0)
    end = certificate.not_valid_after_utc
    if moment >= end:
        raise ValueError(f"refusing to sign a certificate that expired in the past: NotAfter={end}")
    begin = moment - datetime.timedelta(seconds=_BACKDATE)
    last = moment + datetime.timedelta(seconds=seconds if seconds < _SHORT else seconds - _BACKDATE)
    builder = (
        x509.CertificateBuilder()
        .subject_name(request.subject)
        .issuer_name(certificate.subject)
        .public_key(request.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(min(last, end))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    )
    plain, extended = _key_usages(usages)
    if plain:
        builder = builder.add_extension(_key_usage(plain), critical=True)
    if extended:
        builder = builder.add_extension(x509.ExtendedKeyUsage(extended), critical=False)
    try:
        issuer = certificate.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
        builder = builder.add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(issuer), critical=False
        )
    except x509.ExtensionNotFound:
        pass
    names = _general_names(request)
    if names:
        builder = builder.add_extension(
            x509.SubjectAlternativeName(names), critical=not list(request.subject)
        )
    own_digest = isinstance(key, (ed25519.Ed25519PrivateKey, ed448.Ed448PrivateKey))
    return builder.sign(key, None if own_digest else hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def _key_usages(usages: Iterable[str]) -> tuple[set[str], list[x509.ObjectIdentifier]]:
    plain: set[str] = set()
    extended: dict[x509.ObjectIdentifier, None] = {}
    unknown = []
    for usage in usages:
        if usage in _USAGES:
            plain.add(_USAGES[usage])
        elif usage in _EXTENDED:
            extended[_EXTENDED[usage]] = None
        else:
            unknown.append(usage)
    if unknown:
        raise ValueError(f"unrecognized usage values: {unknown}")
    return plain, list(extended)


def _key_usage(plain: set[str]) -> x509.KeyUsage:
    flags = {name: name in plain for name in set(_USAGES.values())}
    if not flags["key_agreement"]:  # these two say nothing without it
        flags["encipher_only"] = flags["decipher_only"] = False
    return x509.KeyUsage(**flags)
