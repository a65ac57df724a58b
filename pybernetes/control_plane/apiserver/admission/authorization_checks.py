"""Asks the server's authorizers on behalf of a plugin."""

from __future__ import annotations

from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.admission.attributes import Attributes
from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.authz.verdict import Verdict
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request_info import RequestInfo

_SIGNERS = "signers"


async def verdict(
    context: ServerContext,
    user: User,
    verb: str,
    group: str,
    resource: str,
    name: str,
    *,
    version: str = "*",
    subresource: str = "",
    namespace: str = "",
) -> Verdict:
    """Return what the authorizers say of something that a write of a user implies."""
    info = RequestInfo(
        verb, is_resource=True, group=group, version=version, resource=resource, subresource=subresource,
        namespace=namespace, name=name,
    )  # fmt: skip
    return await context.authorize(user, info)


async def for_signer(context: ServerContext, user: User, verb: str, signer: str) -> bool:
    """Return whether a user may approve, sign or attest for a signer, by its name or by its domain."""
    domain = signer.partition("/")[0]
    for name in (signer, f"{domain}/*"):
        if (await verdict(context, user, verb, "certificates.k8s.io", _SIGNERS, name)).allowed:
            return True
    return False


async def require_signer(context: ServerContext, attributes: Attributes, verb: str) -> None:
    """Refuse a write of a certificate request whose user may not approve or sign for the request's signer."""
    # The stored request counts: the one that is sent could name a signer for which the permission is there.
    signer = (attributes.old or {}).get("spec", {}).get("signerName", "")
    if not await for_signer(context, attributes.user, verb, signer):
        attributes.refuse(f"user not permitted to {verb} requests with signerName {go_format.quote(signer)}")
