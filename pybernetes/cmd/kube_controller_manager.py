"""kube-controller-manager: the control loops of Kubernetes in one program."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pybernetes.cmd import _controller_manager
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
)  # fmt: skip


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    from pybernetes.control_plane.controllers._controller_manager import registry

    return _controller_manager.parser("kube-controller-manager", SUMMARY, _PORT, registry.descriptors(), MORE)


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
