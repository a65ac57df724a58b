"""ClusterTrustBundleAttest: who publishes the roots of a signer must be allowed to speak for it."""

from __future__ import annotations

from collections.abc import Awaitable

from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.admission.attributes import UPDATE, Attributes
from pybernetes.control_plane.apiserver.admission.authorization_checks import for_signer
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, PluginInputs, Scope

# What the garbage collector and storage migration change.
_HOUSEKEEPING = ("ownerReferences", "finalizers", "managedFields", "selfLink")


class ClusterTrustBundleAttest(Plugin):
    """The plugin."""

    name = "ClusterTrustBundleAttest"
    order = 270
    on_by_default = True
    scope = Scope(resources=("clustertrustbundles.certificates.k8s.io",))

    def __init__(self, inputs: PluginInputs) -> None:
        self._context = inputs.context

    def validate(self, attributes: Attributes) -> Awaitable[None] | None:
        """Refuse a bundle without the permission ``attest`` for its signer."""
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
