"""The files of the kubelet's serving certificate."""

from __future__ import annotations

from pathlib import Path

from pybernetes.lib.tls.serving_certificates import KeyPair, own_pair
from pybernetes.node.kubelet.options import Options


def serving_files(options: Options, addresses: tuple[str, ...]) -> KeyPair:
    """Return the files of the serving certificate: the configured ones, or a self-signed one."""
    settings = options.configuration
    if settings["tlsCertFile"] and settings["tlsPrivateKeyFile"]:
        return KeyPair(Path(settings["tlsCertFile"]), Path(settings["tlsPrivateKeyFile"]))
    assert options.certificates is not None
    current = options.certificates / "kubelet-server-current.pem"
    if settings["serverTLSBootstrap"] and current.exists():
        return KeyPair(current, current)
    names = [options.hostname or options.node_name, options.node_name, *addresses, "127.0.0.1", "localhost"]
    return own_pair(options.certificates, names, "kubelet")[0]
