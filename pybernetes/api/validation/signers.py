"""Signers of certificates, and the names of the trust bundles that belong to them."""

from __future__ import annotations

from pybernetes.api.validation import names


def is_kubernetes_signer(name: str) -> bool:
    """Return whether the signer is one of Kubernetes itself."""
    host = name.partition("/")[0]
    return host == "kubernetes.io" or host.endswith(".kubernetes.io")


def cluster_trust_bundle_name(name: str, signer: str) -> list[str]:
    """Return what is wrong with the name of a trust bundle, which starts with the name of its signer."""
    if not signer:
        if ":" in name:
            return ['ClusterTrustBundle without signer name must not have ":" in its name']
        return names.dns_subdomain(name)
    prefix = signer.replace("/", ":") + ":"
    if not name.startswith(prefix):
        return [f"ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}"]
    return names.dns_subdomain(name.removeprefix(prefix))
