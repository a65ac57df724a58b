"""What a connection needs: one context of a kubeconfig, changed by flags."""

from __future__ import annotations

import os

from pybernetes.client.kubeconfig_files import entry
from pybernetes.tools.kubectl import TYPE_CHECKING, log
from pybernetes.tools.kubectl.addresses import server_parts
from pybernetes.tools.kubectl.errors import BadConfig, CommandError
from pybernetes.tools.kubectl.files import read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from pybernetes.api.resource import Object
    from pybernetes.tools.kubectl.command_line.flags import Values


_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


class Access:
    """Where the server is and who we are."""

    def __init__(self, server: str) -> None:
        self.scheme, self.own_user, self.host_header, self.prefix = server_parts(server)
        host, colon, port = self.host_header.rpartition(":")
        if colon and port.isdigit():
            self.host, self.port = host.strip("[]"), int(port)
        else:
            self.host, self.port = self.host_header.strip("[]"), 443 if self.scheme == "https" else 80
        self.server = f"{self.scheme}://{self.host_header}{self.prefix}"
        self.proxy = ""  # the address of the proxy to go through
        self.server_name = ""
        self.insecure = False
        self.authority = ""
        self.certificate = ""
        self.key = ""
        self.headers: dict[str, Any] = {}
        self.exec: Object | None = None
        self.user = ""  # whose credentials the program or the provider gives
        self.provider: dict[str, str] = {}  # settings of an OpenID provider
        self.store_provider: Callable[[dict[str, str]], None] = lambda settings: None
        self.cluster: Object = {}
        self.input_taken = False  # what comes from the standard input is a manifest
        self.plugin_policy: Object = {}  # which programs may give credentials: see the kuberc file


def proxy_for(access: Access, given: str, environment: Mapping[str, str], cluster: str = "") -> str:
    """Return the proxy to reach a server by: the one of the configuration, or that of the environment."""
    if given:
        scheme = given.partition("://")[0]
        if "://" not in given or scheme not in ("http", "https", "socks5", "socks5h"):
            why = f'unsupported scheme "{scheme if "://" in given else ""}", must be http, https, or socks5'
            if given[:1] == ":":
                why = f"could not parse: {given}"
            raise CommandError(f'invalid \'proxy-url\' "{given}" for cluster "{cluster}": {why}')
        return given
    from pybernetes.lib.network.environment_proxy import proxy_of

    return proxy_of(environment, access.scheme, access.host, access.port)


def current(config: Object, flags: Values) -> Object:
    """Return the context that flags and configuration choose."""
    name = flags.context or config.get("current-context") or ""
    if not name:
        return {}
    context = entry(config, "contexts", name)
    if context is None:
        raise BadConfig(f"context was not found for specified context: {name}")
    return context


def access(config: Object, flags: Values) -> Access:
    """Return what a connection needs, from configuration and flags; a pod's own, if nothing says otherwise."""
    if is_in_pod(config, flags, os.environ):
        return _of_pod(flags)
    context = current(config, flags)
    name = flags.cluster or context.get("cluster") or ""
    cluster = dict(entry(config, "clusters", name) or {})
    if flags.cluster and not cluster:
        raise CommandError(f'no server found for cluster "{name}"')
    if not name and not flags.server and context:
        raise BadConfig("cluster has no server defined")
    server = flags.server or cluster.get("server") or ""
    result = Access(server or "http://localhost:8080")
    result.cluster = cluster
    result.proxy = proxy_for(
        result,
        flags.proxy_url or cluster.get("proxy-url") or "",
        os.environ,
        name,
    )
    result.server_name = flags.tls_server_name or cluster.get("tls-server-name") or ""
    result.insecure = flags.insecure_skip_tls_verify or bool(cluster.get("insecure-skip-tls-verify"))
    if not flags.insecure_skip_tls_verify:
        if flags.certificate_authority:
            result.authority = _file(flags.certificate_authority, "certificate-authority", name)
        else:
            result.authority = _pem(cluster, "certificate-authority", name)
    if result.insecure and result.authority:
        raise CommandError("specifying a root certificates file with the insecure flag is not allowed")
    _identity(result, config, context, flags)
    return result


def is_in_pod(config: Object, flags: Values, environment: Mapping[str, str]) -> bool:
    """Return whether this runs in a pod whose service account is to be used: nothing says which cluster is meant."""
    if not environment.get("KUBERNETES_SERVICE_HOST") or config.get("clusters") or config.get("contexts"):
        return False
    chosen = (flags.kubeconfig, flags.common("server"), flags.cluster, flags.context)
    return not any(chosen) and os.path.isfile(f"{_ACCOUNT}/token")


def namespace_of_pod(environment: Mapping[str, str]) -> str:
    """Return the namespace of the pod that this runs in."""
    log.line("merged_client_builder.go:165", "Using in-cluster namespace", 4)
    if name := environment.get("POD_NAMESPACE"):
        return name
    try:
        with open(f"{_ACCOUNT}/namespace", encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""


def _of_pod(flags: Values) -> Access:
    log.line("merged_client_builder.go:122", "Using in-cluster configuration", 4)
    host, port = (os.environ.get(f"KUBERNETES_SERVICE_{name}", "") for name in ("HOST", "PORT"))
    result = Access(f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}")
    result.insecure = flags.insecure_skip_tls_verify
    if not result.insecure:
        result.authority = _file(f"{_ACCOUNT}/ca.crt", "certificate-authority", "in-cluster")
    token = flags.common("token") or _file(f"{_ACCOUNT}/token", "tokenFile", "in-cluster").strip()
    _identity(result, {"users": [{"name": "pod", "user": {"token": token}}]}, {"user": "pod"}, flags)
    return result


def _identity(result: Access, config: Object, context: Object, flags: Values) -> None:
    name = flags.common("user") or context.get("user") or ""
    user = entry(config, "users", name)
    if user is None and flags.common("user"):
        raise CommandError(f'auth info "{name}" does not exist')
    user = user or {}
    if user.get("auth-provider"):
        from pybernetes.tools.kubectl.kubeconfig.auth_provider import check

        if user.get("exec"):
            raise CommandError("execProvider and authProvider cannot be used in combination")
        result.provider, result.user = check(user["auth-provider"]), name
    if flags.client_certificate:
        result.certificate = _file(flags.client_certificate, "client-cert", name)
        result.key = _file(flags.client_key, "client-key", name) if flags.client_key else ""
    else:
        result.certificate = _pem(user, "client-certificate", name)
        result.key = _pem(user, "client-key", name)
    if result.certificate and not result.key:
        raise CommandError(
            f"client-key-data or client-key must be specified for {name} to use the clientCert authentication method."
        )
    token = flags.common("token") or user.get("token") or ""
    if not token and user.get("tokenFile"):
        token = read_text(user["tokenFile"], "").strip()
    username, password = (flags.common(key) or user.get(key) or "" for key in ("username", "password"))
    if token and (username or password):
        raise CommandError(
            f"more than one authentication method found for {name}; found [token basicAuth], only one is allowed"
        )
    if result.own_user and not (username or password or token or user.get("exec")):
        from urllib.parse import unquote

        username, _, password = (unquote(part) for part in result.own_user.partition(":"))
    if result.scheme != "https":
        result.provider = {}  # credentials are not shown to whoever listens
    elif username or password:
        import base64

        pair = f"{username}:{password}"
        result.headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    elif token:
        result.headers["Authorization"] = f"Bearer {token}"
    elif user.get("exec") and not (result.certificate and result.key):  # who has a certificate needs no other
        result.exec, result.user = user["exec"], name
    if who := flags.__getattr__("as") or user.get("as"):
        result.headers["Impersonate-User"] = who
    if uid := flags.as_uid or user.get("as-uid"):
        result.headers["Impersonate-Uid"] = uid
    if groups := flags.as_group or user.get("as-groups"):
        result.headers["Impersonate-Group"] = list(groups)
    for extra in flags.as_user_extra:
        key, equals, value = extra.partition("=")
        if not equals:
            continue
        result.headers.setdefault(f"Impersonate-Extra-{_header_key(key)}", []).append(value)
    for key, values in (user.get("as-user-extra") or {}).items():
        result.headers.setdefault(f"Impersonate-Extra-{_header_key(key)}", []).extend(values)
    if "Impersonate-User" not in result.headers and any(
        key.startswith("Impersonate") for key in result.headers
    ):
        raise CommandError(f"requesting uid, groups or user-extra for {name} without impersonating a user")


def _header_key(text: str) -> str:
    """Return a key as a part of a header's name: with escapes for what no name has."""
    return "".join(
        chr(byte) if byte < 128 and (chr(byte).isalnum() or chr(byte) in "!#$&'*+-.^_`|~") else f"%{byte:02X}"
        for byte in text.encode()
    )


def _pem(value: Object, key: str, name: str) -> str:
    data = value.get(f"{key}-data")
    if data:
        import binascii

        try:
            return binascii.a2b_base64(data).decode()
        except ValueError:
            raise CommandError(f"illegal base64 data in {key}-data of {name}") from None
    return _file(value[key], key, name) if value.get(key) else ""


def _file(path: str, key: str, name: str) -> str:
    problem = CommandError if key == "certificate-authority" else BadConfig
    return read_text(path, f"unable to read {key} {path} for {name} due to ", error=problem)
