"""How a machine that joins learns whom to trust from a file: a kubeconfig, on its disk or at an address that TLS guards."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pybernetes.api.resource import Object
from pybernetes.api.text import yaml_reader
from pybernetes.client import kubeconfig
from pybernetes.client.client import Client
from pybernetes.client.errors import StatusError
from pybernetes.client.refs import CONFIG_MAPS
from pybernetes.lib.http.client import HttpClient, RequestFailed
from pybernetes.lib.http.fetching import fetch
from pybernetes.lib.tls import tls
from pybernetes.tools.kubeadm import kubeconfig_files
from pybernetes.tools.kubeadm.configuration import documents
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.waiting import go_duration

log = logging.getLogger(__name__)
_RETRY_SECONDS = 1.0
_DOWNLOAD_SECONDS = 30.0
_MOST_BYTES = 1 << 20
_FORBIDDEN = 403
# What a kubeconfig may name a file for, and what the same is called in it.
_EMBEDDED = {"client-certificate": "client-certificate-data", "client-key": "client-key-data"}
_CREDENTIALS = ("token", "tokenFile", "username", "client-certificate-data", "client-certificate", "exec")


async def discover(path: str, seconds: float) -> Object:
    """Return the kubeconfig of a file, with one cluster and one user; the server has shown that it is the one meant."""
    address = urlsplit(path)
    content = await _downloaded(path) if address.scheme == "https" else documents.read_file(path)
    config = single(parsed(content), Path(path).parent if address.scheme != "https" else None)
    await _greet(config, seconds)
    return config


def has_credentials(config: Object) -> bool:
    """Return whether a kubeconfig says who its user is."""
    user = (config.get("users") or [{}])[0].get("user") or {}
    return any(user.get(name) for name in _CREDENTIALS)


def parsed(content: bytes) -> Object:
    """Return what a file says; KubeadmError if it is no kubeconfig."""
    try:
        value, _ = yaml_reader.loads(content)
    except yaml_reader.YamlError as error:
        raise KubeadmError(f"the provided kubeconfig file is malformed: {error}") from None
    if not isinstance(value, dict):
        raise KubeadmError("the provided kubeconfig file is malformed: it is no object")
    return value


def _entries(config: Object, plural: str) -> dict[str, Object]:
    single_name = plural.removesuffix("s")
    listed = config.get(plural)
    return {
        str(entry.get("name", "")): entry.get(single_name) or {}
        for entry in (listed if isinstance(listed, list) else [])
        if isinstance(entry, dict) and isinstance(entry.get(single_name) or {}, dict)
    }


def single(config: Object, folder: Path | None) -> Object:
    """Return a kubeconfig with the cluster and the user of the current context alone, and files that it names in it."""
    clusters, contexts, users = (_entries(config, plural) for plural in ("clusters", "contexts", "users"))
    if not clusters:
        raise KubeadmError("the provided kubeconfig file must have at least one Cluster defined")
    context = contexts.get(str(config.get("current-context") or ""), {})
    # Without a context there is the cluster that has no name, as cluster-info has it, or the only one.
    cluster = clusters.get(str(context.get("cluster", "")))
    if cluster is None and len(clusters) == 1:
        cluster = next(iter(clusters.values()))
    if cluster is None or not isinstance(cluster.get("server"), str) or not cluster["server"]:
        raise KubeadmError(
            "the provided kubeconfig file is malformed: failed to get cluster from kubeconfig file"
        )
    user = dict(users.get(str(context.get("user", "")), {}))
    authority = cluster.get("certificate-authority-data") or ""
    if not authority and cluster.get("certificate-authority"):
        authority = kubeconfig_files.encoded(_named(cluster["certificate-authority"], folder))
    for name, embedded in _EMBEDDED.items():
        if user.get(name) and not user.get(embedded):
            user[embedded] = kubeconfig_files.encoded(_named(user.pop(name), folder))
    if user.get("tokenFile") and not user.get("token"):
        user["token"] = _named(user.pop("tokenFile"), folder).decode(errors="replace").strip()
    name = str(context.get("user") or "kubeadm")
    made = kubeconfig_files.value(cluster["server"], "kubernetes", b"", name, user)
    if cluster.get("insecure-skip-tls-verify"):
        raise KubeadmError(
            "the provided kubeconfig file does not say whom to trust: insecure-skip-tls-verify is set"
        )
    made["clusters"][0]["cluster"]["certificate-authority-data"] = authority
    if not authority:
        del made["clusters"][0]["cluster"]["certificate-authority-data"]
    return made


def _named(name: Any, folder: Path | None) -> bytes:
    """Return what a file has that a kubeconfig names; one from elsewhere may name none of this machine."""
    if folder is None:
        raise KubeadmError(f"the provided kubeconfig file names a file of another machine: {name}")
    return documents.read_file(str(folder / str(name)))


async def _greet(config: Object, seconds: float) -> None:
    """Ask the server for cluster-info over TLS that is verified, until it answers; that it refuses is an answer as well."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    try:
        client: Client = kubeconfig.from_value(config).client(user_agent="kubeadm")
    except kubeconfig.ConfigError as error:
        raise KubeadmError(str(error)) from None
    try:
        while True:
            try:
                await client.get(CONFIG_MAPS, "cluster-info", "kube-public")
                return
            except (OSError, StatusError) as error:
                if isinstance(error, StatusError) and error.code == _FORBIDDEN:
                    log.warning(
                        "[discovery] Could not access the cluster-info ConfigMap, but the TLS cert is valid so proceeding..."
                    )
                    return
                if loop.time() > deadline:
                    after = go_duration(seconds)
                    raise KubeadmError(
                        f"Abort reading the cluster-info ConfigMap after timeout of {after}: {error}"
                    ) from None
            await asyncio.sleep(_RETRY_SECONDS)
    finally:
        await client.close()


async def _downloaded(url: str) -> bytes:
    client = HttpClient(most_bytes=_MOST_BYTES)
    try:
        reply = await fetch(client, url, {}, _DOWNLOAD_SECONDS, tls.client_context())
    except (RequestFailed, ValueError) as error:
        raise KubeadmError(f"couldn't download the discovery file from {url}: {error}") from None
    finally:
        client.close()
    if reply.status != 200:
        raise KubeadmError(f"couldn't download the discovery file from {url}: {reply.status}")
    return bytes(reply.body)
