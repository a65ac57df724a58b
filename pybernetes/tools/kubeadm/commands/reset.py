"""kubeadm reset: takes this machine out of its cluster, and back what was done to it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from pybernetes.lib.flags import Flag
from pybernetes.tools.kubeadm import command_line, workflow
from pybernetes.tools.kubeadm.checks.check import ignored_names
from pybernetes.tools.kubeadm.command_line import Arguments
from pybernetes.tools.kubeadm.configuration import documents, loading
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.init_data import say
from pybernetes.tools.kubeadm.phases.reset import PHASES
from pybernetes.tools.kubeadm.reset_data import ResetData

Object = dict[str, Any]
SUMMARY = "Performs a best effort revert of changes made to this host by 'kubeadm init' or 'kubeadm join'"
FLAGS = (
    command_line.CONFIG,
    command_line.DRY_RUN,
    command_line.IGNORE,
    command_line.SKIP_PHASES,
    command_line.CRI_SOCKET,
    command_line.KUBECONFIG,
    Flag("cert-dir", "/etc/kubernetes/pki", "The path to the directory where the certificates are stored."),
    Flag("cleanup-tmp-dir", False, 'Cleanup the "/etc/kubernetes/tmp" directory'),
    Flag("force", False, "Reset the node without prompting for confirmation."),
)


def configuration(arguments: Arguments) -> Object:
    """Return the ResetConfiguration that a command line means."""
    command_line.check_mixed(arguments)
    given: Object = {
        "certificatesDir": arguments.cert_dir,
        "criSocket": arguments.cri_socket,
        "cleanupTmpDir": arguments.cleanup_tmp_dir,
        "force": arguments.force,
    }
    if arguments.config:
        read = documents.read(documents.read_file(arguments.config)).own.get("ResetConfiguration")
        if read is None:
            raise KubeadmError(f'no ResetConfiguration found in config file "{arguments.config}"')
        given = read
        if given.get("unmountFlags"):
            raise KubeadmError(
                "unmountFlags are not supported: mounts are let go of as soon as nobody uses them"
            )
    return loading.reset(given)


def main(argv: list[str]) -> int:
    """Run all phases, or one of them: ``reset phase NAME``."""
    summary = f'{SUMMARY}\n\nThe "reset" command executes the following phases:\n{workflow.listing(PHASES)}'
    arguments = command_line.parse("kubeadm reset", summary, FLAGS, argv, most=2, short={"-f": "--force"})
    words = arguments.words
    if words and words[0] != "phase":
        raise KubeadmError(f'unknown command "{words[0]}" for "kubeadm reset"')
    if words:
        workflow.find(PHASES, words[1:], "kubeadm reset")
    given = configuration(arguments)
    data = ResetData(
        given,
        Path(arguments.kubeconfig),
        dry_run=arguments.dry_run or bool(given.get("dryRun")),
        force=bool(given.get("force")),
        ignored=ignored_names(arguments.ignore_preflight_errors, given.get("ignorePreflightErrors") or ()),
    )
    if words:
        asyncio.run(workflow.run_one(PHASES, words[1:], data, "kubeadm reset"))
        return 0
    asyncio.run(workflow.run(PHASES, data, (*arguments.skip_phases, *(given.get("skipPhases") or ()))))
    say(
        "\nCNI configuration, packet rules and the kubeconfigs of users are left as they are: remove them by hand."
    )
    return 0
