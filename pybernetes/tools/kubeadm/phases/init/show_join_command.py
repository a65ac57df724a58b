"""show-join-command: what to do next, and how others join."""

from __future__ import annotations

from pybernetes.tools.kubeadm import join_command
from pybernetes.tools.kubeadm.init_data import InitData, say
from pybernetes.tools.kubeadm.locations import ADMIN
from pybernetes.tools.kubeadm.workflow import Phase


async def _run(data: InitData) -> None:
    admin = data.folders.kubernetes / "admin.conf"
    token = "<value withheld>" if data.skip_token_print else data.init["bootstrapTokens"][0]["token"]
    command = join_command.command(
        data.cluster, data.address, data.port, token, (data.folders.certificates / "ca.crt").read_bytes()
    )
    lines = [
        "",
        "Your Kubernetes control-plane has initialized successfully!",
        "",
        "To use the cluster as a regular user:",
        "",
        "  mkdir -p $HOME/.kube",
        f"  sudo cp -i {admin} $HOME/.kube/config",
        "  sudo chown $(id -u):$(id -g) $HOME/.kube/config",
        "",
        "As root, this is enough:",
        "",
        f"  export KUBECONFIG={ADMIN}",
        "",
        "The cluster has no pod network yet; docs/kubeadm.md has one to apply with kubectl, and any other that speaks CNI will do.",
    ]
    if data.cluster.get("controlPlaneEndpoint"):
        lines += _control_planes(data, command)
    lines += ["", "Worker nodes join with this command, as root:", "", command, ""]
    say("\n".join(lines))


def _control_planes(data: InitData, command: str) -> list[str]:
    if not data.upload_certs:
        return [
            "",
            "Other control-plane nodes join, after the certificate authorities and service account keys were copied to them, "
            "with this command, as root:",
            "",
            f"  {command} \\\n\t--control-plane",
        ]
    key = "<value withheld>" if data.skip_certificate_key_print else data.init["certificateKey"]
    return [
        "",
        "Other control-plane nodes join with this command, as root:",
        "",
        f"  {command} \\\n\t--control-plane --certificate-key {key}",
        "",
        "Keep the certificate key secret: it opens the uploaded certificates. They are deleted after two hours;",
        '"kubeadm init phase upload-certs --upload-certs" uploads them again.',
    ]


PHASE = Phase("show-join-command", "Show the join command for control-plane and worker node", _run)
