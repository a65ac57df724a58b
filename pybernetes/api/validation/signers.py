"""Names of signers such as ``example.com/my-signer``, and of the trust bundles that belong to them."""

from __future__ import annotations

from collections.abc import Callable

from pybernetes.api import go
from pybernetes.api.field import Errors, Path
from pybernetes.api.validation import names

_LONGEST_DOMAIN = 253
_LONGEST = 253 + 1 + 253 + 1 + 63


def is_kubernetes_signer(name: str) -> bool:
    """Whether the signer is one of Kubernetes itself."""
    host = name.partition("/")[0]
    return host == "kubernetes.io" or host.endswith(".kubernetes.io")


def signer_name(name: str, path: Path, errors: Errors) -> None:
    """Checks the name of a signer: a domain, a slash, and a path of subdomains."""
    if not name:
        errors.required(path)
        return
    if name.count("/") != 1:
        text = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        errors.invalid(path, name, text)
        return
    domain, _, rest = name.partition("/")
    if len(domain.encode()) > _LONGEST_DOMAIN:
        errors.too_long(path, _LONGEST_DOMAIN)
    _parts(domain, names.dns_label, path, errors)
    if "." not in domain:
        errors.invalid(path, domain, "should be a domain with at least two segments separated by dots")
    _parts(rest, names.dns_subdomain, path, errors)
    if len(name.encode()) > _LONGEST:
        errors.too_long(path, _LONGEST)


def _parts(text: str, check: Callable[[str], list[str]], path: Path, errors: Errors) -> None:
    """Complains about the first part between dots that is wrong."""
    for part in text.split("."):
        problems = check(part)
        for problem in problems:
            errors.invalid(path, text, f"validating label {go.quote(part)}: {problem}")
        if problems:
            return


def cluster_trust_bundle_name(name: str, signer: str) -> list[str]:
    """What is wrong with the name of a trust bundle, which starts with the name of its signer."""
    if not signer:
        if ":" in name:
            return ['ClusterTrustBundle without signer name must not have ":" in its name']
        return names.dns_subdomain(name)
    prefix = signer.replace("/", ":") + ":"
    if not name.startswith(prefix):
        return [f"ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}"]
    return names.dns_subdomain(name.removeprefix(prefix))
