"""Where the API server is and who we are: kubeconfig files, and the files that a pod finds in its container.

``load`` gives a ``Config``; ``Config.client()`` gives a client. Relative paths in a kubeconfig are relative to its file.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from pybernetes.api.resource import Object
from pybernetes.client import kubeconfig_files
from pybernetes.client.client import Client
from pybernetes.client.credentials import (
    Anonymous,
    Authority,
    Basic,
    Certificate,
    Credentials,
    Exec,
    Token,
    TokenFile,
)
from pybernetes.client.kubeconfig_files import ConfigError
from pybernetes.client.rate_limiter import RateLimiter
from pybernetes.client.rest_transport import RestTransport

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_UNSUPPORTED = ("auth-provider",)


@dataclass
class Config:
    """A server and an identity."""

    server: str
    credentials: Credentials
    namespace: str = "default"
    context: str = ""
    server_name: str = ""
    headers: tuple[tuple[str, str], ...] = ()  # that go with every request: impersonation

    def client(
        self, *, user_agent: str = "pybernetes", qps: float = 0, burst: int = 0, most_bytes: int | None = None
    ) -> Client:
        """Return a client; calls are not limited unless ``qps`` says so, nor answers unless ``most_bytes`` does."""
        limiter = RateLimiter(qps, burst or max(1, int(qps))) if qps > 0 else None
        rest = RestTransport(
            self.server,
            self.credentials,
            server_name=self.server_name,
            headers=self.headers,
            most_bytes=most_bytes,
        )
        return Client(rest, user_agent=user_agent, limiter=limiter, namespace=self.namespace)


def load(
    path: str | Path | None = None,
    *,
    context: str = "",
    cluster: str = "",
    user: str = "",
    environment: Mapping[str, str] = os.environ,
) -> Config:
    """Return the configuration of a program: ``path``, else $KUBECONFIG, else ~/.kube/config, else that of a pod."""
    value = _value(path, environment)
    if value is not None:
        return from_value(value, context=context, cluster=cluster, user=user)
    if environment.get("KUBERNETES_SERVICE_HOST"):
        return in_cluster(environment=environment)
    files = ", ".join(kubeconfig_files.paths(environment))
    raise ConfigError(
        f"there is no kubeconfig ({files}) and this is not a pod: name a file, or set KUBECONFIG"
    )


def contexts(path: str | Path | None = None, environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return the names of the contexts of a kubeconfig that has a cluster for them; none in a pod."""
    value = _value(path, environment) or {}
    return [
        item["name"] for item in value.get("contexts") or () if (item.get("context") or {}).get("cluster")
    ]


def _value(path: str | Path | None, environment: Mapping[str, str]) -> Object | None:
    """Return the content of the kubeconfig that a program is to use; None if there is none."""
    if path:
        return read(Path(path))
    existing = [Path(file) for file in kubeconfig_files.paths(environment) if os.path.exists(file)]
    return kubeconfig_files.merge(read(file) for file in existing) if existing else None


def in_cluster(directory: Path = SERVICE_ACCOUNT, environment: Mapping[str, str] = os.environ) -> Config:
    """Return the configuration that a pod finds in its container."""
    host, port = environment.get("KUBERNETES_SERVICE_HOST"), environment.get("KUBERNETES_SERVICE_PORT")
    if not host or not port:
        raise ConfigError(
            "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined"
        )
    token, authority = directory / "token", directory / "ca.crt"
    if not token.exists():
        raise ConfigError(f"unable to load in-cluster configuration: {token} does not exist")
    namespace = directory / "namespace"
    trust = Authority(authority if authority.exists() else None)
    name = f"[{host}]" if ":" in host else host
    return Config(
        f"https://{name}:{port}",
        TokenFile(trust, token),
        namespace.read_text().strip() if namespace.exists() else "default",
    )


def read(path: Path) -> Object:
    """Return a kubeconfig file as a value, with the paths in it made absolute."""
    try:
        return kubeconfig_files.read(path)
    except OSError as error:
        raise ConfigError(f"the kubeconfig cannot be read: {error}") from None


def from_value(value: Object, *, context: str = "", cluster: str = "", user: str = "") -> Config:
    """Return the configuration of one context of a kubeconfig."""
    context = context or value.get("current-context") or ""
    if context:
        chosen = _entry(value, "contexts", context)
    elif cluster:
        chosen = {}
    else:
        raise ConfigError("the kubeconfig has no current-context: name a context")
    cluster = cluster or chosen.get("cluster", "")
    where = _entry(value, "clusters", cluster)
    if not where.get("server"):
        raise ConfigError(f"the cluster {cluster!r} of the kubeconfig has no server")
    user = user or chosen.get("user", "")
    who = _entry(value, "users", user) if user else {}
    if where.get("proxy-url"):
        raise ConfigError(f"the cluster {cluster!r} has a proxy-url, which is not supported")
    trust = _authority(where, cluster)
    return Config(
        where["server"],
        _credentials(trust, who, user, where),
        chosen.get("namespace") or "default",
        context,
        where.get("tls-server-name", ""),
        _impersonation(who),
    )


def _entry(value: Object, plural: str, name: str) -> Object:
    settings = kubeconfig_files.entry(value, plural, name)
    if settings is None:
        raise ConfigError(f"{kubeconfig_files.PLURALS[plural]} {name!r} does not exist")
    return settings


def _authority(cluster: Object, name: str) -> Authority:
    data = cluster.get("certificate-authority-data")
    insecure = bool(cluster.get("insecure-skip-tls-verify"))
    if insecure and (data or cluster.get("certificate-authority")):
        raise ConfigError(
            f"the cluster {name!r} has a certificate authority, which insecure-skip-tls-verify makes no use of"
        )
    text = _decode(data, "certificate-authority-data") if data else None
    path = cluster.get("certificate-authority")
    return Authority(Path(path) if path and not text else None, text, verify=not insecure)


def _decode(data: str, name: str) -> str:
    try:
        return base64.b64decode(data, validate=False).decode()
    except ValueError:
        raise ConfigError(f"{name} is not base64 of a PEM text") from None


def _credentials(trust: Authority, user: Object, name: str, cluster: Object) -> Credentials:
    for key in _UNSUPPORTED:
        if user.get(key):
            raise ConfigError(f"the user {name!r} has {key}, which is not supported: use exec")
    certificate = _pem(user, "client-certificate")
    key_text = _pem(user, "client-key")
    if bool(certificate) != bool(key_text):
        raise ConfigError(f"the user {name!r} needs both a client certificate and its key")
    if certificate and key_text:
        trust = Certificate(trust, certificate, key_text)
    if user.get("token"):
        return Token(trust, user["token"])
    if user.get("tokenFile"):
        return TokenFile(trust, Path(user["tokenFile"]))
    if user.get("username"):
        return Basic(trust, user["username"], user.get("password", ""))
    if user.get("exec"):
        try:
            return Exec(trust, user["exec"], cluster)
        except ValueError as error:
            raise ConfigError(f"the user {name!r}: {error}") from None
    return Anonymous(trust)


def _pem(user: Object, name: str) -> str | Path | None:
    if user.get(f"{name}-data"):
        return _decode(user[f"{name}-data"], f"{name}-data")
    return Path(user[name]) if user.get(name) else None


def _impersonation(user: Object) -> tuple[tuple[str, str], ...]:
    headers = [("Impersonate-User", user["as"])] if user.get("as") else []
    if user.get("as-uid"):
        headers.append(("Impersonate-Uid", user["as-uid"]))
    headers += [("Impersonate-Group", group) for group in user.get("as-groups") or ()]
    for name, values in (user.get("as-user-extra") or {}).items():
        headers += [(f"Impersonate-Extra-{quote(name)}", value) for value in values]
    return tuple(headers)
