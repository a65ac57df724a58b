"""create secret tls."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.create._generator import COMMON, generator
from pybernetes.tools.kubectl.commands.create.secret.generic import secret
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.files import read_bytes

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Create a TLS secret"
USAGE = (
    "create secret tls NAME --cert=path/to/cert/file --key=path/to/key/file [--dry-run=server|client|none]"
)
FLAGS = (*COMMON, """
- append-hash bool false | append a hash of the data to the name
- cert string | file with the certificate in PEM
- key string | file with its key
""")  # fmt: skip


def make(context: Context, name: str) -> Object:
    """Return a Secret with a certificate and its key."""
    flags = context.flags
    if not flags.key or not flags.cert:
        raise CommandError("key and cert must be specified")
    texts = [read_bytes(path, f"Cannot read file {path}, ") for path in (flags.cert, flags.key)]
    from cryptography.hazmat.primitives import serialization
    from cryptography.x509 import load_pem_x509_certificate

    try:
        certificate = load_pem_x509_certificate(texts[0])
    except ValueError:
        raise CommandError(_no_certificate(texts[0])) from None
    try:
        key = serialization.load_pem_private_key(texts[1], None)
    except (ValueError, TypeError):
        raise CommandError("tls: failed to find any PEM data in key input") from None
    form = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    if key.public_key().public_bytes(*form) != certificate.public_key().public_bytes(*form):
        raise CommandError("tls: private key does not match public key")
    return secret(context, name, [("tls.crt", texts[0]), ("tls.key", texts[1])], "kubernetes.io/tls")


def _no_certificate(text: bytes) -> str:
    """Return the complaint about a text without a certificate, in the words of Go's library."""
    import re

    kinds = re.findall(rb"^-----BEGIN ([^-\n]+)-----", text, re.MULTILINE)
    if not kinds or b"CERTIFICATE" in kinds:
        return "tls: failed to find any PEM data in certificate input"
    if len(kinds) == 1 and kinds[0].endswith(b"PRIVATE KEY"):
        return (
            "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may "
            "have been switched"
        )
    shown = " ".join(kind.decode("utf-8", "replace") for kind in kinds)
    return (
        'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following '
        f"types: [{shown}]"
    )


run = generator(make, "failed to create secret ")
