"""Counts webhooks whose certificates have a flaw that clients used to overlook.

Such a certificate is refused. What is counted is how often that was the reason, so that whoever upgrades finds out.
"""

from __future__ import annotations

import logging

from cryptography import x509

from pybernetes.lib.http.client import Distrusted, HttpClient, Peer
from pybernetes.lib.metrics.counts import Counters
from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.lib.tls import tls

log = logging.getLogger(__name__)
# OpenSSL's numbers: the name does not match, and a signature made with too weak a digest.
_HOSTNAME_MISMATCH, _WEAK_DIGEST = 62, 68
_SECONDS = 2.0


class CertificateFlaws:
    """The two counters."""

    def __init__(self) -> None:
        self._missing_san = Counters(
            "apiserver_webhooks_x509_missing_san_total", "Connections refused for want of a subject alternative name."
        )  # fmt: skip
        self._sha1 = Counters(
            "apiserver_webhooks_x509_insecure_sha1_total", "Connections refused for a signature with SHA-1."
        )

    async def note(self, https: HttpClient, peer: Peer, error: Distrusted) -> str:
        """Count a refusal if one of the flaws is its reason; return the reason in Go's words."""
        if error.code == _WEAK_DIGEST:
            self._sha1.add()
            log.info(
                "insecure-sha1: invalid certificate detected connecting to %r", peer.server_name or peer.host
            )
        elif error.code == _HOSTNAME_MISMATCH and await self._lacks_san(https, peer):
            self._missing_san.add()
            log.info(
                "missing-san: invalid certificate detected connecting to %r", peer.server_name or peer.host
            )
            return "tls: failed to verify certificate: x509: certificate relies on legacy Common Name field, use SANs instead"
        return str(error)

    async def _lacks_san(self, https: HttpClient, peer: Peer) -> bool:
        """Look at the certificate once more: a refused handshake does not show it."""
        shown = await https.certificate(peer, tls.client_context(verify=False), _SECONDS)
        if shown is None:
            return False
        try:
            extensions = x509.load_der_x509_certificate(shown).extensions
            extensions.get_extension_for_class(x509.SubjectAlternativeName)
        except x509.ExtensionNotFound:
            return True
        except ValueError:  # not a certificate that can be read
            return False
        return False

    def render(self, out: Exposition) -> None:
        """Write the counters."""
        self._missing_san.write(out)
        self._sha1.write(out)
