"""upload-certs: the authorities, encrypted, for other control planes that join within two hours."""

from __future__ import annotations

from pybernetes.tools.kubeadm import shared_certificates
from pybernetes.tools.kubeadm.init_data import InitData, say
from pybernetes.tools.kubeadm.workflow import Phase


async def _run(data: InitData) -> None:
    if not data.upload_certs:
        say("[upload-certs] Skipping phase. Please see --upload-certs")
        return
    key = data.init.get("certificateKey") or shared_certificates.new_key()
    data.init["certificateKey"] = key
    await shared_certificates.upload(await data.objects(), data.cluster, data.folders.certificates, key, say)
    if not data.skip_certificate_key_print:
        say(f"[upload-certs] Using certificate key:\n{key}")


PHASE = Phase(
    "upload-certs",
    "Upload certificates to kubeadm-certs",
    _run,
    flags="certificate-key config dry-run kubeconfig skip-certificate-key-print upload-certs",
)
