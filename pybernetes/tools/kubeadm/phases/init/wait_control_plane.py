"""wait-control-plane: until the kubelet and the control plane's pods answer."""

from __future__ import annotations

from pybernetes.tools.kubeadm import waiting
from pybernetes.tools.kubeadm.init_data import InitData, say
from pybernetes.tools.kubeadm.locations import KUBELET, MANIFESTS
from pybernetes.tools.kubeadm.workflow import Phase


async def _run(data: InitData) -> None:
    if data.dry_run:
        _print_files(data)
    say(
        "[wait-control-plane] Waiting for the kubelet to boot up the control plane as static Pods from directory "
        f'"{data.folders.manifests}"'
    )
    kubelet = data.settings.components["KubeletConfiguration"]
    if data.dry_run:
        say(
            f"[dryrun] Would make sure the kubelet returns 'ok' at http://127.0.0.1:{kubelet['healthzPort']}/healthz"
        )
        return
    await waiting.for_kubelet(
        kubelet["healthzBindAddress"],
        kubelet["healthzPort"],
        data.seconds("kubeletHealthCheck"),
        data.folders.kubelet,
    )
    await waiting.for_control_plane(
        waiting.endpoints(data.cluster, data.address, data.port),
        data.seconds("controlPlaneComponentHealthCheck"),
        data.folders.kubelet,
    )


def _print_files(data: InitData) -> None:
    folder = data.folders.manifests
    say(
        f'[dryrun] Wrote certificates, kubeconfig files and control plane manifests to the "{folder}" directory\n'
        "[dryrun] The certificates or kubeconfig files would not be printed due to their sensitive nature\n"
        f'[dryrun] Please examine the "{folder}" directory for details about what would be written'
    )
    for name, target in (
        *((f"kube-{part}.yaml", MANIFESTS) for part in ("apiserver", "controller-manager", "scheduler")),
        ("config.yaml", KUBELET),
        ("kubeadm-flags.env", KUBELET),
    ):
        if (folder / name).exists():
            say(
                f'[dryrun] Would write file "{target / name}" with content:\n{(folder / name).read_text().rstrip()}'
            )


PHASE = Phase("wait-control-plane", "Wait for the control plane to start", _run)
