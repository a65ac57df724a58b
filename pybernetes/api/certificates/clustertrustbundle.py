"""ClusterTrustBundle: certificates that pods and components trust."""

from __future__ import annotations

from pybernetes.api.certificates import GROUP, _pem
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.table import NAME, get
from pybernetes.api.validation import checks, meta
from pybernetes.api.validation.signers import cluster_trust_bundle_name

_SPEC = Path("spec")
_BUNDLE = _SPEC / "trustBundle"
_OMITTED = "<value omitted>"
_LARGEST = 1024 * 1024


def default(obj: Object) -> None:
    """Complete the bundle, which is always shown."""
    obj.setdefault("spec", {}).setdefault("trustBundle", "")


def validate(obj: Object, errors: Errors) -> None:
    """Check the name, which depends on the signer, and the certificates."""
    metadata, spec = obj["metadata"], obj.get("spec", {})
    signer = spec.get("signerName", "")
    for key, text in (("generateName", metadata.get("generateName", "")), ("name", metadata.get("name", ""))):
        whole = text[:-1] + "a" if key == "generateName" and text.endswith("-") else text
        for problem in cluster_trust_bundle_name(whole, signer) if text else ():
            errors.invalid(Path("metadata") / key, text, problem)
    if signer:
        checks.signer_name(signer, _SPEC / "signerName", errors)
    _validate_bundle(spec.get("trustBundle", ""), errors)


def _validate_bundle(text: str, errors: Errors) -> None:
    content = text.encode()
    if len(content) > _LARGEST:
        errors.too_long(_BUNDLE, _LARGEST)
        return
    places: dict[bytes, list[int]] = {}
    wrong = False
    for index, block in enumerate(_pem.blocks(content)):
        problem = _block_problem(block)
        if problem:
            errors.invalid(_BUNDLE, _OMITTED, f"entry {index} {problem}")
            wrong = True
        else:
            places.setdefault(block.content, []).append(index)
    if wrong:
        return
    if not places:
        errors.invalid(_BUNDLE, _OMITTED, "at least one trust anchor must be provided")
    for indices in places.values():
        if len(indices) > 1:
            listed = " ".join(str(index) for index in indices)
            errors.invalid(_BUNDLE, _OMITTED, f"duplicate trust anchor (indices [{listed}])")


def _block_problem(block: _pem.Block) -> str:
    if block.type != "CERTIFICATE":
        return f"has bad block type: {block.type}"
    if block.headers:
        return "has PEM block headers"
    certificate = _pem.certificate(block.content)
    if certificate is None:
        return "does not parse as X.509"
    return "" if _pem.is_authority(certificate) else "does not have the CA bit set"


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that the signer stays."""
    after, before = get(new, ".spec.signerName", ""), get(old, ".spec.signerName", "")
    meta.immutable(after, before, _SPEC / "signerName", errors)


RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="ClusterTrustBundle",
    plural="clustertrustbundles",
    namespaced=False,
    selectable={"spec.signerName": lambda obj: get(obj, ".spec.signerName", "")},
    # The name starts with the signer's, which only ``validate`` can see.
    name_errors=lambda name: [],
    unconditional_update=False,
    columns=(NAME, Column("SignerName", lambda obj, now: get(obj, ".spec.signerName", "") or "<none>")),
    default=default,
    validate=validate,
    validate_update=validate_update,
)
