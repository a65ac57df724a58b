"""CertificateSigning: who issues a certificate must be allowed to for its signer."""

from __future__ import annotations

from collections.abc import Awaitable

from pybernetes.control_plane.apiserver.admission.attributes import UPDATE, Attributes
from pybernetes.control_plane.apiserver.admission.authorization_checks import require_signer
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, PluginInputs, Scope

REQUESTS = "certificatesigningrequests.certificates.k8s.io"


class CertificateSigning(Plugin):
    """The plugin."""

    name = "CertificateSigning"
    order = 260
    on_by_default = True
    scope = Scope(operations=(UPDATE,), resources=(REQUESTS,), subresources=("status",))

    def __init__(self, inputs: PluginInputs) -> None:
        self._context = inputs.context

    def validate(self, attributes: Attributes) -> Awaitable[None] | None:
        """Refuse a certificate or a condition without the permission ``sign`` for the signer."""
        after, before = ((request or {}).get("status", {}) for request in (attributes.obj, attributes.old))
        if all(
            (after.get(key) or None) == (before.get(key) or None) for key in ("certificate", "conditions")
        ):
            return None
        return require_signer(self._context, attributes, "sign")


PLUGIN = CertificateSigning
