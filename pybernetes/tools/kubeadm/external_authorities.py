"""Authorities whose keys are elsewhere: everything that they sign has to be there before a control plane is made."""

from __future__ import annotations

from pathlib import Path

from pybernetes.tools.kubeadm import certificate_files as files
from pybernetes.tools.kubeadm import kubeconfig_files
from pybernetes.tools.kubeadm.certificate_list import BY_NAME
from pybernetes.tools.kubeadm.errors import KubeadmError

# Names of what each of them has to have signed, and what it is called.
_SIGNED = {
    "ca": {"apiserver": "API server", "apiserver-kubelet-client": "API server kubelet client"},
    "front-proxy-ca": {"front-proxy-client": "front-proxy client"},
}


def is_external(certificates: Path, authority: str) -> bool:
    """Return whether an authority is here without its key."""
    base = BY_NAME[authority].base
    return (certificates / f"{base}.crt").exists() and not (certificates / f"{base}.key").exists()


def check(certificates: Path, kubernetes: Path, *, upload: bool) -> None:
    """Complain of what is missing where an authority's key is elsewhere; such authorities cannot be uploaded."""
    external = [authority for authority in _SIGNED if is_external(certificates, authority)]
    for authority in external:
        for name, what in _SIGNED[authority].items():
            problem = _problem(certificates, authority, name, what)
            if problem:
                kind = "CA" if authority == "ca" else "front-proxy CA"
                raise KubeadmError(f"invalid or incomplete external {kind}: {problem}")
    if "ca" in external:
        for identity in kubeconfig_files.identities("").values():
            path = kubernetes / identity.file
            if not path.exists():
                raise KubeadmError(
                    f"the {identity.file} file does not exists or it is not valid: stat {path}: no such file or directory"
                )
    if external and upload:
        raise KubeadmError("can't use upload-certs with an external CA or an external front-proxy CA")


def _problem(certificates: Path, authority: str, name: str, what: str) -> str:
    base = certificates / BY_NAME[name].base
    for suffix, kind in (("key", "private key"), ("crt", "certificate")):
        path = base.with_name(f"{base.name}.{suffix}")
        if not path.exists():
            missing = "key" if suffix == "key" else "certificate"
            return (
                f"failure loading {missing} for {what if suffix == 'crt' else base.name}: couldn't load the {kind} file {path}: "
                f"open {path}: no such file or directory"
            )
    files.read_pair(certificates, BY_NAME[name].base)
    own = files.read_certificate(base.with_name(f"{base.name}.crt"))
    issuer = files.read_certificate(certificates / f"{BY_NAME[authority].base}.crt")
    if own is None or issuer is None or not files.is_issued_by(own, issuer):
        return f"failure verifying {base.name} certificate: it is not signed by {BY_NAME[authority].base}"
    return ""
