"""kubeadm certs: how long certificates last, new ones, requests for somebody else to sign."""

from __future__ import annotations

import asyncio
import json

from pybernetes.lib.flags import Flag
from pybernetes.tools.kubeadm import command_line, renewal, shared_certificates
from pybernetes.tools.kubeadm.command_line import Arguments
from pybernetes.tools.kubeadm.configuration.printing import to_yaml
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.init_data import say

SUMMARY = "Commands related to handling Kubernetes certificates"
FLAGS = (
    command_line.CONFIG,
    command_line.KUBECONFIG,
    Flag("cert-dir", "", "The path where the certificates are; by default that of the configuration."),
    Flag("kubeconfig-dir", "/etc/kubernetes", "The path where the kubeconfig files are."),
    Flag("output", "text", "Output format: text, json or yaml (check-expiration)."),
)


def main(argv: list[str]) -> int:
    """Run ``check-expiration``, ``renew NAME|all``, ``generate-csr`` or ``certificate-key``."""
    arguments = command_line.parse(
        "kubeadm certs", f"{SUMMARY}: check-expiration|renew|generate-csr|certificate-key", FLAGS, argv, most=2,
        short={"-o": "--output"},
    )  # fmt: skip
    action, name = (*arguments.words, "", "")[:2]
    if action == "certificate-key":
        print(shared_certificates.new_key())
    elif action == "check-expiration":
        _check(arguments)
    elif action == "renew":
        _renew(arguments, name)
    elif action == "generate-csr":
        place = asyncio.run(renewal.place(arguments, local=True))
        for line in renewal.generate_requests(place):
            say(line)
    else:
        raise KubeadmError(f'unknown command "{action}" for "kubeadm certs"')
    return 0


def _check(arguments: Arguments) -> None:
    place = asyncio.run(renewal.place(arguments))
    listed = renewal.expirations(place)
    if arguments.output in ("json", "yaml"):
        value = renewal.as_value(listed)
        print(json.dumps(value, indent=4) if arguments.output == "json" else to_yaml(value).rstrip())
    elif arguments.output == "text":
        print(renewal.table(listed))
    else:
        raise KubeadmError(f"invalid output format: {arguments.output}")


def _renew(arguments: Arguments, name: str) -> None:
    names = renewal.names()
    if name not in (*names, "all"):
        raise KubeadmError(f'unknown command "{name}" for "kubeadm certs renew": all, {", ".join(names)}')
    place = asyncio.run(renewal.place(arguments))
    for chosen in names if name == "all" else (name,):
        say(renewal.renew(place, chosen, missing=name == "all"))
    if name == "all":
        say(
            "\nDone renewing certificates. You must restart the kube-apiserver, kube-controller-manager, kube-scheduler and "
            "etcd, so that they can use the new certificates."
        )
