"""kubelet-finalize: the kubelet's certificate goes into a file of its own, which it renews itself."""

from __future__ import annotations

import base64
from pathlib import Path

from pybernetes.client import kubeconfig_files as reading
from pybernetes.lib.tls.tls import write_atomically
from pybernetes.tools.kubeadm import kubeconfig_files, kubelet_service
from pybernetes.tools.kubeadm.init_data import InitData, say
from pybernetes.tools.kubeadm.workflow import Phase


async def _run(data: InitData) -> None:
    path = data.folders.kubernetes / "kubelet.conf"
    pem = data.folders.kubelet / "pki" / "kubelet-client-current.pem"
    if data.dry_run:
        say(
            f'[kubelet-finalize] Would update "{path}" to point to a rotatable kubelet client certificate and key'
        )
        return
    config = reading.read(path)
    user = config["users"][0]["user"]
    if "client-certificate-data" in user:
        content = b"".join(
            base64.b64decode(user[name]) for name in ("client-certificate-data", "client-key-data")
        )
        Path(pem).parent.mkdir(parents=True, exist_ok=True, mode=0o755)
        write_atomically(pem, content, 0o600)
    elif not pem.exists():
        say(
            f'[kubelet-finalize] Assuming that kubelet client certificate rotation is disabled: did not find "{pem}"'
        )
        return
    say(f'[kubelet-finalize] Updating "{path}" to point to a rotatable kubelet client certificate and key')
    config["users"][0]["user"] = {"client-certificate": str(pem), "client-key": str(pem)}
    kubeconfig_files.write(path, config)
    kubelet_service.stop(data.folders.kubelet)
    kubelet_service.start(data.folders.kubelet)


_FLAGS = "cert-dir config dry-run"
PHASE = Phase(
    "kubelet-finalize",
    "Updates settings relevant to the kubelet after TLS bootstrap",
    None,
    (Phase("enable-client-cert-rotation", "Enable kubelet client certificate rotation", _run, flags=_FLAGS),),
    flags=_FLAGS,
)
