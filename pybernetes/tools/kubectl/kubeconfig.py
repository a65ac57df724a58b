"""kubeconfig files: read, merged, and one context of them as what a connection needs."""

from __future__ import annotations

import os

from pybernetes.tools.kubectl.errors import BadConfig, CommandError

TYPE_CHECKING = False  # typing's own costs time to import
if TYPE_CHECKING:
    from typing import Any

    Config = dict[str, Any]
_PLURALS = (("clusters", "cluster"), ("users", "user"), ("contexts", "context"))


class Access:
    """Where the server is and who we are."""

    def __init__(self, server: str) -> None:
        scheme, separator, rest = server.partition("://")
        if not separator:
            scheme, rest = "http", server
        self.scheme = scheme
        self.host_header, slash, path = rest.partition("/")
        self.prefix = f"/{path}".rstrip("/") if slash else ""
        host, colon, port = self.host_header.rpartition(":")
        if colon and port.isdigit():
            self.host, self.port = host.strip("[]"), int(port)
        else:
            self.host, self.port = self.host_header.strip("[]"), 443 if scheme == "https" else 80
        self.server = f"{scheme}://{rest.rstrip('/')}"
        self.server_name = ""
        self.insecure = False
        self.authority = ""
        self.certificate = ""
        self.key = ""
        self.headers: dict[str, Any] = {}
        self.exec: dict[str, Any] | None = None
        self.user = ""  # the name under which the program above is written down
        self.cluster: dict[str, Any] = {}


def paths(given: str, environment: dict[str, str]) -> list[str]:
    """Return the files that hold the configuration, in order of precedence."""
    if given:
        return [given]
    listed = [path for path in environment.get("KUBECONFIG", "").split(os.pathsep) if path]
    return listed or [os.path.join(environment.get("HOME", "/"), ".kube", "config")]


def read(path: str) -> Config:
    """Return one file as it stands."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        raise CommandError(
            f"error loading config file {_q(path)}: open {path}: {(error.strerror or '').lower()}"
        ) from None
    from pybernetes.lib.plain_yaml import NotPlain, parse

    try:
        value = parse(text)
    except NotPlain:
        from pybernetes.api.text.yaml_reader import YamlError, loads

        try:
            value = loads(text.encode())[0]
        except YamlError as error:
            raise CommandError(f"error loading config file {_q(path)}: {error}") from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise CommandError(f"error loading config file {_q(path)}: it is not a kubeconfig")
    return value


def _q(text: str) -> str:
    return f'"{text}"'


def load(files: list[str], explicit: bool = False) -> Config:
    """Return several files as one: of two entries with one name the first counts. Paths become absolute."""
    merged: Config = {}
    for path in files:
        if not os.path.exists(path):
            if explicit:
                raise CommandError(f"stat {path}: no such file or directory")
            continue
        value = read(path)
        absolute(value, os.path.dirname(os.path.abspath(path)))
        for plural, _ in _PLURALS:
            entries = merged.setdefault(plural, [])
            known = {entry.get("name") for entry in entries}
            for entry in value.get(plural) or ():
                if entry.get("name") not in known:
                    entry["@origin"] = path
                    entries.append(entry)
        if value.get("current-context") and not merged.get("current-context"):
            merged["current-context"] = value["current-context"]
        if value.get("preferences") and not merged.get("preferences"):
            merged["preferences"] = value["preferences"]
    return merged


_PATHS = {"clusters": ("certificate-authority",), "users": ("client-certificate", "client-key", "tokenFile")}


def absolute(value: Config, directory: str) -> None:
    """Make the paths in a configuration absolute; they are relative to its file."""
    for plural, singular in _PLURALS[:2]:
        for entry in value.get(plural) or ():
            inner = entry.get(singular) or {}
            for name in _PATHS[plural]:
                if inner.get(name):
                    inner[name] = os.path.join(directory, inner[name])
            plugin = inner.get("exec") or {}
            if "/" in (plugin.get("command") or ""):  # without one it is looked for on the path
                plugin["command"] = os.path.join(directory, plugin["command"])


def entry(config: Config, plural: str, name: str) -> dict[str, Any] | None:
    """Return a named cluster, user or context."""
    singular = plural[:-1]
    for named in config.get(plural) or ():
        if named.get("name") == name:
            return named.get(singular) or {}
    return None


def current(config: Config, flags: Any) -> dict[str, Any]:
    """Return the context that flags and configuration choose."""
    name = flags.context or config.get("current-context") or ""
    if not name:
        return {}
    context = entry(config, "contexts", name)
    if context is None:
        raise BadConfig(f"context was not found for specified context: {name}")
    return context


def access(config: Config, flags: Any) -> Access:
    """Return what a connection needs, from configuration and flags."""
    context = current(config, flags)
    name = flags.cluster or context.get("cluster") or ""
    cluster = dict(entry(config, "clusters", name) or {})
    if flags.cluster and not cluster:
        raise CommandError(f'no server found for cluster "{name}"')
    if not cluster and not flags.server and context:
        raise (
            BadConfig(f'cluster "{name}" does not exist')
            if name
            else BadConfig("cluster has no server defined")
        )
    server = flags.server or cluster.get("server") or ""
    result = Access(server or "http://localhost:8080")
    result.cluster = cluster
    if flags.proxy_url or cluster.get("proxy-url"):
        raise CommandError("proxy-url is not supported: reach the server directly")
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


def _identity(result: Access, config: Config, context: dict[str, Any], flags: Any) -> None:
    name = flags.common("user") or context.get("user") or ""
    user = entry(config, "users", name)
    if user is None and flags.common("user"):
        raise CommandError(f'auth info "{name}" does not exist')
    user = user or {}
    if user.get("auth-provider"):
        raise CommandError("auth-provider is not supported: use exec")
    if flags.client_certificate:
        result.certificate = _file(flags.client_certificate, "client-cert", name)
        result.key = _file(flags.client_key, "client-key", name) if flags.client_key else ""
    else:
        result.certificate = _pem(user, "client-certificate", name)
        result.key = _pem(user, "client-key", name)
    token = flags.common("token") or user.get("token") or ""
    if not token and user.get("tokenFile"):
        token = _file(user["tokenFile"], "tokenFile", name).strip()
    if flags.common("username") or (user.get("username") and not token):
        import base64

        pair = (
            f"{flags.common('username') or user['username']}:{flags.password or user.get('password') or ''}"
        )
        result.headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    elif token:
        result.headers["Authorization"] = f"Bearer {token}"
    elif user.get("exec"):
        result.exec, result.user = user["exec"], name
    if who := flags.__getattr__("as") or user.get("as"):
        result.headers["Impersonate-User"] = who
    if uid := flags.as_uid or user.get("as-uid"):
        result.headers["Impersonate-Uid"] = uid
    if groups := flags.as_group or user.get("as-groups"):
        result.headers["Impersonate-Group"] = list(groups)
    for extra in flags.as_user_extra:
        key, _, value = extra.partition("=")
        result.headers.setdefault(f"Impersonate-Extra-{key}", []).append(value)
    for key, values in (user.get("as-user-extra") or {}).items():
        result.headers.setdefault(f"Impersonate-Extra-{key}", []).extend(values)


def _pem(value: dict[str, Any], key: str, name: str) -> str:
    data = value.get(f"{key}-data")
    if data:
        import binascii

        try:
            return binascii.a2b_base64(data).decode()
        except ValueError:
            raise CommandError(f"illegal base64 data in {key}-data of {name}") from None
    return _file(value[key], key, name) if value.get(key) else ""


def _file(path: str, key: str, name: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise BadConfig(
            f"unable to read {key} {path} for {name} due to open {path}: {(error.strerror or '').lower()}"
        ) from None
