"""ClusterTrustBundleAttest: who publishes the roots of a signer must be allowed to speak for it."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.admission.authorization_checks import for_signer
from pybernetes.control_plane.apiserver.admission.chain import UPDATE, Attributes, Scope
from pybernetes.control_plane.apiserver.context import ServerContext

# What the garbage collector and storage migration change.
_HOUSEKEEPING = ("ownerReferences", "finalizers", "managedFields", "selfLink")


class ClusterTrustBundleAttest:
    """The plugin."""

    name = "ClusterTrustBundleAttest"
    scope = Scope(resources=("clustertrustbundles.certificates.k8s.io",))

    def __init__(self, context: ServerContext, configuration: Any = None) -> None:
        self._context = context

    def validate(self, attributes: Attributes) -> Awaitable[None] | None:
        """Refuses a bundle without the permission ``attest`` for its signer."""
        bundle = attributes.obj
        assert bundle is not None
        signer = bundle.get("spec", {}).get("signerName")
        if not signer:
            return None
        if attributes.operation == UPDATE and _content(bundle) == _content(attributes.old or {}):
            return None
        return self._check(attributes, signer)

    async def _check(self, attributes: Attributes, signer: str) -> None:
        if not await for_signer(self._context, attributes.user, "attest", signer):
            attributes.refuse(f"user not permitted to attest for signerName {go_format.quote(signer)}")


def _content(bundle: Object) -> Object:
    meta = {key: value for key, value in bundle.get("metadata", {}).items() if key not in _HOUSEKEEPING}
    return {**bundle, "metadata": meta}


PLUGIN = ClusterTrustBundleAttest
