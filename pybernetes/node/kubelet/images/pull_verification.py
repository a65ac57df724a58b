"""Whether a pod may use an image that is on the node already, or has to show that its credentials pull it. Pure.

An image that one pod's secret pulled is not for every pod of the node: others show a secret of their own that pulled it
before, or pull it once more, which the registry refuses if they may not. What the kubelet did not pull itself was put
there by the node's owner, and is for everybody unless the policy says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pybernetes.api.core.pod import image_names
from pybernetes.api.resource import Object

POLICIES = ("NeverVerify", "NeverVerifyPreloadedImages", "NeverVerifyAllowlistedImages", "AlwaysVerify")
_SECRET_KEYS = ("uid", "namespace", "name")


def problems(policy: str, allowlist: Sequence[str]) -> list[str]:
    """Return what is wrong with the kubelet's configuration."""
    if policy not in POLICIES:
        names = ", ".join(f'"{name}"' for name in POLICIES[:-1])
        return [
            f'option "{policy}" specified for imagePullCredentialsVerificationPolicy. '
            f'Valid options are {names} or "{POLICIES[-1]}"'
        ]
    if allowlist and policy != "NeverVerifyAllowlistedImages":
        return [
            "can't set `preloadedImagesVerificationAllowlist` if `imagePullCredentialsVertificationPolicy` is not"
            ' "NeverVerifyAllowlistedImages"'
        ]
    wrong = (_pattern_problem(pattern) for pattern in allowlist)
    return [
        f"invalid image pattern in `preloadedImagesVerificationAllowlist`: {text}" for text in wrong if text
    ]


def _pattern_problem(pattern: str) -> str:
    if pattern != pattern.strip():
        return f"leading/trailing spaces are not allowed: {pattern}"
    name = pattern.removesuffix("*") if pattern.endswith("/*") else pattern
    if not name:
        return f"the supplied pattern is too short: {pattern}"
    if "*" in name:
        return f"not a valid wildcard pattern, only patterns ending with '/*' are allowed: {pattern}"
    if name != pattern:
        return "at least registry hostname is required" if name == "/" else ""
    if image_names.parse(name) is None:
        return "failed to parse as an image name: invalid reference format"
    return (
        ""
        if repository(name) == name
        else f"neither tag nor digest is accepted in an image reference: {pattern}"
    )


def repository(image: str) -> str:
    """Return an image's name as it was written, without tag and digest."""
    name = image.partition("@")[0]
    head, colon, tag = name.rpartition(":")
    return head if colon and "/" not in tag else name


def asks_for_credentials(policy: str, allowlist: Iterable[str], image: str, by_kubelet: bool) -> bool:
    """Return whether a policy wants to see credentials for an image that is there."""
    if policy == "NeverVerifyAllowlistedImages":
        name = repository(image)
        return not any(
            name.startswith(pattern[:-1]) if pattern.endswith("/*") else name == pattern
            for pattern in allowlist
        )
    return policy == "AlwaysVerify" or (policy == "NeverVerifyPreloadedImages" and by_kubelet)


def match(record: Object | None, image: str, secrets: Sequence[Object]) -> Object | None:
    """Return the credentials by which a pod may use an image, as they are recorded; None if it has to pull it.

    A secret that pulled it before will do, also if its contents have changed since; and so will another one with the
    contents of one that did.
    """
    known = ((record or {}).get("credentialMapping") or {}).get(repository(image)) or {}
    if known.get("nodePodsAccessible"):
        return {"nodePodsAccessible": True}
    recorded = known.get("kubernetesSecrets") or ()
    hashes = {secret["credentialHash"] for secret in recorded if secret.get("credentialHash")}
    places = {tuple(secret.get(key) for key in _SECRET_KEYS) for secret in recorded}
    for secret in secrets:
        if secret["credentialHash"] in hashes or tuple(secret[key] for key in _SECRET_KEYS) in places:
            return {"kubernetesSecrets": [secret]}
    return None


def merged(known: Object | None, new: Object) -> Object:
    """Return what is recorded of an image's credentials after a pull; what nobody needs is for all pods from then on."""
    if (known or {}).get("nodePodsAccessible") or new.get("nodePodsAccessible"):
        return {"nodePodsAccessible": True}
    secrets = {
        tuple(secret[key] for key in _SECRET_KEYS): secret
        for source in (known or {}, new)
        for secret in source.get("kubernetesSecrets") or ()
    }
    return {"kubernetesSecrets": [secrets[key] for key in sorted(secrets)]} if secrets else {}
