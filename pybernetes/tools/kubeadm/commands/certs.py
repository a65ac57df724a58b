"""kubeadm certs: how long certificates last, new ones, requests for somebody else to sign."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable

from pybernetes.lib.flags import Flag
from pybernetes.tools.kubeadm import command_line, output, renewal, shared_certificates, signing_requests
from pybernetes.tools.kubeadm.command_line import Arguments, Command
from pybernetes.tools.kubeadm.init_data import say

SUMMARY = "Commands related to handling Kubernetes certificates"
_CERT_DIR = Flag("cert-dir", "", "The path where the certificates are; by default that of the configuration.")
_KUBECONFIG_DIR = Flag("kubeconfig-dir", "/etc/kubernetes", "The path where the kubeconfig files are.")
_FLAGS = (_CERT_DIR, command_line.CONFIG, command_line.KUBECONFIG)


def _certificate_key(arguments: Arguments) -> None:
    print(shared_certificates.new_key())


def _generate(arguments: Arguments) -> None:
    place = asyncio.run(renewal.place(arguments))
    for line in signing_requests.generate(place):
        say(line)


def _check(arguments: Arguments) -> None:
    show = output.printer(arguments, renewal.table)
    # Programs read what is printed: how it was found out is none of it.
    with contextlib.redirect_stdout(sys.stdout if output.is_text(arguments) else sys.stderr):
        place = asyncio.run(renewal.place(arguments, "check-expiration"))
    show(renewal.as_value(renewal.expirations(place)))


def _renew(name: str) -> Callable[[Arguments], None]:
    def work(arguments: Arguments) -> None:
        place = asyncio.run(renewal.place(arguments, "renew"))
        for chosen in renewal.all_names(place) if name == "all" else (name,):
            say(renewal.renew(place, chosen))
        if name == "all":
            say(
                "\nDone renewing certificates. You must restart the kube-apiserver, kube-controller-manager, kube-scheduler "
                "and etcd, so that they can use the new certificates."
            )

    return work


def _renewing(name: str) -> Command:
    what = "all available certificates" if name == "all" else f"the {renewal.long_name(name)}"
    return Command(name, f"Renew {what}", _renew(name), _FLAGS, others=(_KUBECONFIG_DIR,))


COMMAND = Command(
    "certs",
    SUMMARY,
    commands=(
        Command("certificate-key", "Generate certificate keys", _certificate_key),
        Command(
            "check-expiration",
            "Check certificates expiration for a Kubernetes cluster",
            _check,
            (*_FLAGS, *output.FLAGS),
            others=(_KUBECONFIG_DIR,),
        ),
        Command(
            "generate-csr",
            "Generate keys and certificate signing requests",
            _generate,
            (_CERT_DIR, command_line.CONFIG, _KUBECONFIG_DIR),
            others=(command_line.KUBECONFIG,),
        ),
        Command(
            "renew",
            "Renew certificates for a Kubernetes cluster",
            commands=tuple(_renewing(name) for name in ("all", *renewal.names())),
        ),
    ),
    aliases=("certificates",),
)
