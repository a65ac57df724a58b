"""kube-controller-manager: the control loops of Kubernetes in one program."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pybernetes.cmd import _controller_manager, _upstream_flags
from pybernetes.cmd._program import run
from pybernetes.lib import flags
from pybernetes.lib.flags import Fixed, Flag, Ignored

if TYPE_CHECKING:
    from pybernetes.client.kubeconfig import Config
    from pybernetes.runtime import Manager

SUMMARY = "Run the control loops of Kubernetes"
_PORT = 10257
MORE = (
    Flag("cloud-provider", "", "external if a cloud controller manager does what is the cloud's; nothing else is taken"),
    Flag("cloud-config", "", "there is no cloud provider inside: only the empty text is taken"),
    Ignored("cluster-name", "kubernetes", "only a cloud's controllers used it, and they are in cloud-controller-manager, as upstream"),
    Fixed("enable-leader-migration", False, "no controller of this program is also one of cloud-controller-manager: there is nothing to migrate"),
    Fixed("leader-migration-config", "", "no controller of this program is also one of cloud-controller-manager: there is nothing to migrate"),
    Fixed("enable-hostpath-provisioner", False, "volumes on the machine's own disk come from the storage provisioner"),
    *_upstream_flags.OTHERS,
)  # fmt: skip
_CLOUD = "the loop is one of cloud-controller-manager's"
_ATTACHED = "no volume is attached by the control plane: drivers of CSI and the kubelet do it"
_DEVICES = "there are no devices that claims could ask for, and no loop that looks after them"
_RECYCLED = "volumes are not recycled: upstream has that for hostPath and NFS alone, and deprecated it"
# Flags that mean nothing here, and why.
_IGNORED = {
    **_upstream_flags.IGNORED,
    "attach-detach-reconcile-sync-period": _ATTACHED,
    "disable-attach-detach-reconcile-sync": _ATTACHED,
    "disable-force-detach-on-timeout": _ATTACHED,
    "concurrent-device-taint-eviction-syncs": _DEVICES,
    "concurrent-resourceclaim-syncs": _DEVICES,
    "concurrent-validating-admission-policy-status-syncs": "the loop looks at one policy at a time, which takes it milliseconds",
    "configure-cloud-routes": _CLOUD,
    "route-reconciliation-period": _CLOUD,
    "external-cloud-volume-plugin": _CLOUD,
    "controller-shutdown-timeout": "controllers end with the program: what they were at is taken up by the next leader",
    "controller-start-interval": "controllers start at once: they share the lists that they need",
    "flex-volume-plugin-dir": "there are no FlexVolumes",
    "min-resync-period": "nothing is looked at again without a reason",
    "pv-recycler-increment-timeout-nfs": _RECYCLED,
    "pv-recycler-minimum-timeout-hostpath": _RECYCLED,
    "pv-recycler-minimum-timeout-nfs": _RECYCLED,
    "pv-recycler-pod-template-filepath-hostpath": _RECYCLED,
    "pv-recycler-pod-template-filepath-nfs": _RECYCLED,
    "pv-recycler-timeout-increment-hostpath": _RECYCLED,
}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    from pybernetes.control_plane.controllers._controller_manager import registry

    result = _controller_manager.parser(
        "kube-controller-manager", SUMMARY, _PORT, registry.descriptors(), MORE
    )
    flags.add_ignored(result, _IGNORED)
    return result


def main(argv: list[str]) -> int:
    """Run the controllers until told to stop, or until the lease is lost."""
    arguments = parser().parse_args(argv)
    from pybernetes.lib import logs

    logs.set_up(arguments.v)
    try:
        _check(arguments)
    except ValueError as error:
        print(f"kube-controller-manager: {error}", file=sys.stderr)
        return 1
    return run("kube-controller-manager", _run(arguments), RuntimeError)


def _check(arguments: argparse.Namespace) -> None:
    from pybernetes.api import cloud

    _controller_manager.check(arguments)
    flags.check(arguments, MORE)
    flags.warn_ignored(arguments, _IGNORED)
    cloud.check_provider(arguments.cloud_provider)
    if arguments.cloud_config:
        raise ValueError("--cloud-config: there is no cloud provider inside that would read it")


async def _run(arguments: argparse.Namespace) -> int:
    from pybernetes.control_plane.controllers._controller_manager import configz, registry

    def prepare(settings: Config, manager: Manager) -> None:
        arguments.root_ca_data = _authority(settings)

    descriptors = registry.descriptors()
    return await _controller_manager.serve(
        "kube-controller-manager", arguments, descriptors, prepare, registry.select,
        {configz.NAME: configz.configuration(arguments)},
    )  # fmt: skip


def _authority(settings: Config) -> str:
    """Return the certificate authority that the manager itself trusts, as text."""
    trust = settings.credentials.trust()
    if trust.path is not None:
        return Path(trust.path).read_text()
    return trust.text or ""
