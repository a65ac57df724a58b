"""config set-cluster."""

from __future__ import annotations

import base64
import os

from pybernetes.tools.kubectl.commands.config._file import needs_help
from pybernetes.tools.kubectl.config_changes import entries, relative, store
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, quoted

SUMMARY = "Set a cluster entry in kubeconfig"
USAGE = "config set-cluster NAME [--server=server] [--certificate-authority=path/to/certificate/authority] [--insecure-skip-tls-verify=true] [--tls-server-name=example.com]"
FLAGS = ("- embed-certs bool false | put the certificate itself into the file\n",)


def run(context: Context) -> None:
    """Add a cluster, or change one."""
    flags = context.flags
    if len(context.args) != 1:
        raise needs_help(context, f"Unexpected args: [{' '.join(context.args)}]")
    name = context.args[0]
    if not name:
        raise CommandError("you must specify a non-empty cluster name")
    if flags.insecure_skip_tls_verify and flags.certificate_authority:
        raise CommandError("you cannot specify a certificate authority and insecure mode at the same time")
    if flags.embed_certs and not flags.certificate_authority:
        raise CommandError("you must specify a --certificate-authority to embed")
    value = dict(entries(context, "clusters").get(name) or {})
    for flag in ("server", "tls-server-name", "proxy-url"):
        if flag in flags.changed:
            value[flag] = getattr(flags, flag.replace("-", "_"))
    if "insecure-skip-tls-verify" in flags.changed:
        value["insecure-skip-tls-verify"] = flags.insecure_skip_tls_verify
        if flags.insecure_skip_tls_verify:
            value.pop("certificate-authority", None)
            value.pop("certificate-authority-data", None)
        else:
            value.pop("insecure-skip-tls-verify")
    if "certificate-authority" in flags.changed:
        path = flags.certificate_authority
        _authority(value, path if flags.embed_certs or not path else os.path.abspath(path), flags.embed_certs)
    value.setdefault("server", "")
    value = {key: item for key, item in value.items() if item != "" or key == "server"}
    store(context, "clusters", name, relative(context, "clusters", name, value))
    context.out(f"Cluster {quoted(name)} set.")


def _authority(value: dict[str, object], path: str, embed: bool) -> None:
    value.pop("insecure-skip-tls-verify", None)
    if not embed:
        value.pop("certificate-authority-data", None)
        value["certificate-authority"] = path
        return
    try:
        with open(path, "rb") as file:
            value["certificate-authority-data"] = base64.b64encode(file.read()).decode()
    except OSError as error:
        problem = f"stat {path}: {(error.strerror or '').lower()}"
        raise CommandError(f"could not stat certificate-authority file {path}: {problem}") from None
    value.pop("certificate-authority", None)
