"""control-plane-prepare: certificates, kubeconfigs and manifests of a new control plane."""

from __future__ import annotations

from pybernetes.tools.kubeadm import (
    certificates,
    kubeconfig_files,
    patches,
    shared_certificates,
    static_pods,
)
from pybernetes.tools.kubeadm.certificate_list import wanted
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.init_data import say
from pybernetes.tools.kubeadm.join_data import JoinData
from pybernetes.tools.kubeadm.phases.join._flags import DISCOVERY, ENDPOINT
from pybernetes.tools.kubeadm.workflow import Phase


async def _download(data: JoinData) -> None:
    key = (data.control_plane or {}).get("certificateKey")
    if data.control_plane is None or not key:
        return
    settings = await data.settings()
    try:
        await shared_certificates.download(
            await data.objects(), settings.cluster, data.folders.certificates, key, say
        )
    except KubeadmError as error:
        raise KubeadmError(f"error downloading certs: {error}") from None


async def _certs(data: JoinData) -> None:
    if data.control_plane is None:
        return
    subject = await data.subject()
    say(f'[certs] Using certificateDir folder "{data.folders.certificates}"')
    for certificate in wanted(subject):
        if certificate.authority:
            certificates.ensure(data.folders.certificates, subject, certificate, say)
    say('[certs] Valid certificates and keys now exist in "' + str(data.folders.certificates) + '"')
    certificates.ensure_service_account_key(
        data.folders.certificates, subject.cluster["encryptionAlgorithm"], say
    )


async def _kubeconfig(data: JoinData) -> None:
    if data.control_plane is None:
        return
    subject = await data.subject()
    say("[kubeconfig] Generating kubeconfig files")
    say(f'[kubeconfig] Using kubeconfig folder "{data.folders.kubernetes}"')
    identities = kubeconfig_files.identities(data.node)
    for name in ("admin", "controller-manager", "scheduler"):
        kubeconfig_files.ensure(
            data.folders.kubernetes,
            subject,
            data.endpoint["bindPort"],
            identities[name],
            data.folders.certificates,
            say,
        )


async def _control_plane(data: JoinData) -> None:
    if data.control_plane is None:
        return
    settings = await data.settings()
    say(f'[control-plane] Using manifest folder "{data.folders.manifests}"')
    timeout = data.configuration["timeouts"]["controlPlaneComponentHealthCheck"]
    for component, pod in static_pods.control_plane(settings.cluster, data.endpoint, timeout).items():
        say(f'[control-plane] Creating static Pod manifest for "{component}"')
        static_pods.write(
            data.folders.manifests, component, patches.patched(component, pod, data.patches, say)
        )


PHASE = Phase(
    "control-plane-prepare",
    "Prepare the machine for serving a control plane",
    None,
    (
        Phase(
            "download-certs",
            "Download certificates shared among control-plane nodes from the kubeadm-certs Secret",
            _download,
            flags=f"certificate-key config control-plane dry-run {DISCOVERY}",
            words=ENDPOINT,
        ),
        Phase(
            "certs",
            "Generate the certificates for the new control plane components",
            _certs,
            flags=f"apiserver-advertise-address config control-plane dry-run node-name {DISCOVERY}",
            words=ENDPOINT,
        ),
        Phase(
            "kubeconfig",
            "Generate the kubeconfig for the new control plane components",
            _kubeconfig,
            flags=f"certificate-key config control-plane dry-run {DISCOVERY}",
            words=ENDPOINT,
        ),
        Phase(
            "control-plane",
            "Generate the manifests for the new control plane components",
            _control_plane,
            flags="apiserver-advertise-address apiserver-bind-port config control-plane dry-run patches",
        ),
    ),
    words=ENDPOINT,
)
