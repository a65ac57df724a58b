"""Servers that this one calls by a kubeconfig: where they are, whom to trust, and as whom to come."""

from __future__ import annotations

import base64
import ssl
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pybernetes.api import kubeconfig
from pybernetes.api.text import yaml_reader
from pybernetes.lib.http.client import Peer
from pybernetes.lib.http.dialer import Dialer
from pybernetes.lib.http.fetching import located
from pybernetes.lib.tls import tls

_USER_AGENT = "kube-apiserver"


@dataclass(frozen=True, slots=True)
class Remote:
    """A server to post to."""

    peer: Peer
    path: str
    url: str = ""
    token: str = ""
    token_file: Path | None = None

    def headers(self) -> dict[str, str]:
        """Return the headers of a request; a token in a file is read anew, for it may have been changed."""
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": _USER_AGENT,
        }
        token = self.token
        if self.token_file is not None:
            token = self.token_file.read_text().strip()
        if token:
            headers["Authorization"] = f"Bearer {token}"
        return headers


def load(path: str, dialer: Dialer | None = None) -> Remote:
    """Return the server of a kubeconfig's current context, and the way there; ValueError tells what is wrong with the file."""
    try:
        value = yaml_reader.loads(Path(path).read_bytes())[0] or {}
        problem = next(kubeconfig.misfits(value), "") if isinstance(value, dict) else "it is not a kubeconfig"
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    except yaml_reader.YamlError as error:
        raise ValueError(f"{path}: {error}") from None
    if problem:
        raise ValueError(f"{path}: {problem}")
    folder = Path(path).absolute().parent
    context = _entry(value, "contexts", value.get("current-context") or "")
    cluster = _entry(value, "clusters", context.get("cluster") or "")
    user = _entry(value, "users", context["user"]) if context.get("user") else {}
    if "exec" in user or "auth-provider" in user or "username" in user:
        raise ValueError(f"{path}: only tokens and certificates are supported")
    server = cluster.get("server") or ""
    trust = _context(cluster, user, folder) if server.startswith("https:") else None
    try:
        peer, target = located(server, trust, dialer, cluster.get("tls-server-name") or "")
    except ValueError:
        raise ValueError(f"{path}: the server must be an http or https address, not {server!r}") from None
    file = folder / user["tokenFile"] if user.get("tokenFile") and not user.get("token") else None
    return Remote(peer, target, server, user.get("token") or "", file)


def _entry(value: dict[str, Any], plural: str, name: str) -> dict[str, Any]:
    settings = kubeconfig.entry(value, plural, name)
    if settings is None:
        raise ValueError(f'{kubeconfig.PLURALS[plural]} "{name}" does not exist')
    return settings


def _context(cluster: dict[str, Any], user: dict[str, Any], folder: Path) -> ssl.SSLContext:
    authority = _content(cluster, "certificate-authority", folder)
    certificate, key = (_content(user, name, folder) for name in ("client-certificate", "client-key"))
    try:
        context = tls.client_context(
            authority_data=authority.decode() or None, verify=not cluster.get("insecure-skip-tls-verify")
        )
        if certificate and key:
            # The ssl module takes a certificate from files alone; this one is nobody else's and gone at once.
            with tempfile.NamedTemporaryFile() as both:
                both.write(certificate + b"\n" + key)
                both.flush()
                context.load_cert_chain(both.name)
    except (ssl.SSLError, UnicodeDecodeError) as error:
        raise ValueError(f"the certificates cannot be used: {error}") from None
    return context


def _content(entry: dict[str, Any], name: str, folder: Path) -> bytes:
    try:
        if entry.get(f"{name}-data"):
            return base64.b64decode(entry[f"{name}-data"])
        return (folder / entry[name]).read_bytes() if entry.get(name) else b""
    except (OSError, ValueError) as error:
        raise ValueError(f"{name} cannot be read: {error}") from None
