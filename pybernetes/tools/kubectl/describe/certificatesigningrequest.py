"""Certificate signing requests."""

from __future__ import annotations

import base64

from pybernetes.api.text.durations import human_duration
from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._writer import Writer, label_text
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.output.times import rfc1123z

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object


GROUP = "certificates.k8s.io"

_SUBJECT = (
    ("Organization", "O"), ("Organizational Unit", "OU"), ("Country", "C"), ("Locality", "L"), ("Province", "ST"),
    ("StreetAddress", "STREET"), ("PostalCode", "POSTALCODE"),
)  # fmt: skip


def describe(writer: Writer, value: Object) -> None:
    """Write a request and what it asks for."""
    from cryptography import x509

    metadata, spec = value["metadata"], value.get("spec") or {}
    try:
        request = x509.load_pem_x509_csr(base64.b64decode(spec.get("request", "")))
    except ValueError as error:
        raise CommandError(f"Error parsing CSR: {error}") from None
    writer.name(value, namespace=False)
    writer.field("Labels", label_text(metadata.get("labels")))
    writer.field("Annotations", label_text(metadata.get("annotations")))
    writer.field("CreationTimestamp", rfc1123z(metadata.get("creationTimestamp")))
    writer.field("Requesting User", spec.get("username", ""))
    writer.some("Signer", spec.get("signerName"))
    if spec.get("expirationSeconds") is not None:
        writer.field("Requested Duration", human_duration(spec["expirationSeconds"]))
    writer.field("Status", status_of(value))
    writer.line("Subject:")
    names: dict[str, list[str]] = {}
    for attribute in request.subject:
        names.setdefault(attribute.rfc4514_attribute_name, []).append(str(attribute.value))
    writer.line(f"\tCommon Name:\t{(names.get('CN') or [''])[0]}")
    writer.line(f"\tSerial Number:\t{(names.get('2.5.4.5') or [''])[0]}")
    for title, key in _SUBJECT:
        _list(writer, title, names.get(key) or [])
    _alternatives(writer, request)
    writer.events()


def _list(writer: Writer, title: str, values: list[str]) -> None:
    if values:
        writer.put(f"\t{title}:\t" + "\n\t\t".join(values) + "\n")


def _alternatives(writer: Writer, request: Any) -> None:
    from cryptography import x509

    try:
        names = request.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return
    writer.line("Subject Alternative Names:")
    for title, kind in (
        ("DNS Names", x509.DNSName), ("Email Addresses", x509.RFC822Name), ("URIs", x509.UniformResourceIdentifier),
        ("IP Addresses", x509.IPAddress),
    ):  # fmt: skip
        _list(writer, title, [str(name) for name in names.get_values_for_type(kind)])


def status_of(value: Object) -> str:
    """Return the state of a request."""
    types = [condition["type"] for condition in (value.get("status") or {}).get("conditions") or ()]
    text = "Denied" if "Denied" in types else "Approved" if "Approved" in types else "Pending"
    if "Failed" in types:
        text += ",Failed"
    return text + (",Issued" if (value.get("status") or {}).get("certificate") else "")
