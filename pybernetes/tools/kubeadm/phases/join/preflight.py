"""preflight: whether this machine can join, and whether the cluster can take it."""

from __future__ import annotations

from pybernetes.tools.kubeadm import shared_certificates
from pybernetes.tools.kubeadm.checks import control_plane_checks, join_checks, run, run_as_root
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.init_data import say
from pybernetes.tools.kubeadm.join_data import JoinData
from pybernetes.tools.kubeadm.phases._image_pull import pull
from pybernetes.tools.kubeadm.phases.join._flags import DISCOVERY, ENDPOINT
from pybernetes.tools.kubeadm.workflow import Phase


async def _run(data: JoinData) -> None:
    say("[preflight] Running pre-flight checks")
    await run_as_root(join_checks(data.configuration), data.ignored)
    settings = await data.settings()
    if data.control_plane is None:
        return
    _check_ready(data, settings.cluster)
    say("[preflight] Running pre-flight checks before initializing the new control plane instance")
    downloads = bool(data.control_plane.get("certificateKey"))
    await run(control_plane_checks(settings, secondary=True, downloads=downloads), data.ignored)
    await pull(settings.cluster, data.registration, data.ignored, dry_run=data.dry_run)


def _check_ready(data: JoinData, cluster: dict[str, object]) -> None:
    problem = ""
    if not cluster.get("controlPlaneEndpoint"):
        problem = "unable to add a new control plane instance to a cluster that doesn't have a stable controlPlaneEndpoint address"
    elif not (data.control_plane or {}).get("certificateKey"):
        files = shared_certificates.files(cluster, data.folders.certificates)
        missing = [str(path) for path in files.values() if not path.exists()]
        if missing:
            listed = ", ".join(missing)
            problem = f"failure loading certificates that all control planes share: couldn't load {listed}"
    if problem:
        raise KubeadmError(
            f"One or more conditions for hosting a new control plane instance is not satisfied.\n\n{problem}\n\nPlease ensure "
            "that:\n* The cluster has a stable controlPlaneEndpoint address.\n* The certificates that must be shared among "
            "control plane instances are provided."
        )


PHASE = Phase(
    "preflight",
    "Run join pre-flight checks",
    _run,
    flags="apiserver-advertise-address apiserver-bind-port certificate-key config control-plane cri-socket dry-run "
    f"ignore-preflight-errors node-name {DISCOVERY}",
    words=ENDPOINT,
)
