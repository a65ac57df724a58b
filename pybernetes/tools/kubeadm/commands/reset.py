"""kubeadm reset: takes this machine out of its cluster, and back what was done to it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.lib.flags import Flag
from pybernetes.tools.kubeadm import command_line, kubelet_files, workflow
from pybernetes.tools.kubeadm.checks.check import ignored_names
from pybernetes.tools.kubeadm.command_line import Arguments, Command
from pybernetes.tools.kubeadm.configuration import documents, loading
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.init_data import say
from pybernetes.tools.kubeadm.locations import KUBELET
from pybernetes.tools.kubeadm.phases.reset import PHASES
from pybernetes.tools.kubeadm.reset_data import ResetData

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
        read = documents.read(documents.read_own(arguments.config)).own.get("ResetConfiguration")
        if read is None:
            raise KubeadmError("no ResetConfiguration found in the supplied config")
        given = read
    # The runtime that has the pods is the kubelet's, wherever else there is one on the machine.
    known = given.get("criSocket") or kubelet_files.own_socket(KUBELET)
    return loading.reset({**given, "criSocket": known})


def _work(arguments: Arguments, names: tuple[str, ...] = ()) -> None:
    given = configuration(arguments)
    data = ResetData(
        given,
        Path(arguments.kubeconfig),
        dry_run=arguments.is_dry_run(given),
        force=bool(given.get("force")),
        ignored=ignored_names(arguments.ignore_preflight_errors, given.get("ignorePreflightErrors") or ()),
    )
    if names:
        asyncio.run(workflow.run_one(PHASES, names, data))
        return
    asyncio.run(workflow.run(PHASES, data, arguments.skip_phases or given.get("skipPhases") or ()))
    say(
        "\nCNI configuration, packet rules and the kubeconfigs of users are left as they are: remove them by hand."
    )


COMMAND = Command(
    "reset",
    SUMMARY,
    _work,
    FLAGS,
    (
        workflow.command(
            'Use this command to invoke single phase of the "reset" workflow', PHASES, FLAGS, _work
        ),
    ),
    about=f"{SUMMARY}\n\n{workflow.listing(PHASES, 'reset')}",
)
