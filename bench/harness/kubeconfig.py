"""Reads from a kubeconfig where the API server is, for plain sockets."""

import base64
import ipaddress
import os
import ssl
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from pybernetes.api.resource import Object
from pybernetes.client import kubeconfig_files


class ConfigError(Exception):
    """The kubeconfig cannot be used; the message says why."""


@dataclass(frozen=True)
class Target:
    """An API server and the credentials for it."""

    host: str
    port: int
    tls: ssl.SSLContext
    server_name: str
    token: str
    has_certificate: bool

    @property
    def is_loopback(self) -> bool:
        """Whether the server is on this machine, by its address alone."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def load_target(path: str, context_name: str | None = None) -> Target:
    """Read a kubeconfig file and return the server that its context names."""
    config = kubeconfig_files.read(path)
    context = _named(config, "contexts", context_name or config.get("current-context") or "")
    cluster = _named(config, "clusters", context.get("cluster", ""))
    user = _named(config, "users", context["user"]) if context.get("user") else {}

    address = urlsplit(cluster.get("server", ""))
    if address.scheme != "https" or not address.hostname:
        raise ConfigError(f"the server must be an https address, not {cluster.get('server')!r}")
    if "exec" in user or "auth-provider" in user:
        raise ConfigError("credential plugins are not supported; use a token or a client certificate")

    token = user.get("token") or ""
    if not token and user.get("tokenFile"):
        token = Path(user["tokenFile"]).read_text().strip()
    tls, has_certificate = _tls(cluster, user)
    name = cluster.get("tls-server-name") or address.hostname
    return Target(address.hostname, address.port or 443, tls, name, token, has_certificate)


def _tls(cluster: Object, user: Object) -> tuple[ssl.SSLContext, bool]:
    context = ssl.create_default_context()
    if cluster.get("insecure-skip-tls-verify"):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    else:
        authority = _content(cluster, "certificate-authority")
        if authority:
            context.load_verify_locations(cadata=authority.decode())
    certificate = _content(user, "client-certificate")
    key = _content(user, "client-key")
    if certificate and key:
        # The ssl module loads a certificate from files only.
        with tempfile.NamedTemporaryFile(dir=_private_folder()) as both:
            both.write(certificate + b"\n" + key)
            both.flush()
            context.load_cert_chain(both.name)
    return context, bool(certificate and key)


def _private_folder() -> str:
    return "/dev/shm" if os.path.isdir("/dev/shm") else tempfile.gettempdir()


def _content(entry: Object, name: str) -> bytes:
    if entry.get(f"{name}-data"):
        return base64.b64decode(entry[f"{name}-data"])
    if entry.get(name):
        return Path(entry[name]).read_bytes()
    return b""


def _named(config: Object, section: str, name: str) -> Object:
    settings = kubeconfig_files.entry(config, section, name)
    if settings is None:
        raise ConfigError(f"the kubeconfig has no {name!r} in its {section}")
    return settings
