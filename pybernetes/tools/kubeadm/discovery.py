"""How a machine that joins learns whom to trust: by a token and a hash."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json

from pybernetes.api.resource import Object
from pybernetes.api.text import yaml_reader
from pybernetes.client.client import Client
from pybernetes.client.credentials import Anonymous, Authority
from pybernetes.client.errors import StatusError
from pybernetes.client.refs import CONFIG_MAPS
from pybernetes.client.rest_transport import RestTransport
from pybernetes.lib.tokens import jose
from pybernetes.tools.kubeadm import certificate_files, discovery_file, kubeconfig_files, tokens
from pybernetes.tools.kubeadm.errors import KubeadmError

_RETRY_SECONDS = 1.0
_PREFIX = "jws-kubeconfig-"
_LONGEST_HEADER = 1000
BOOTSTRAP_USER = "tls-bootstrap-token-user"


async def bootstrap_config(configuration: Object, seconds: float) -> Object:
    """Return the kubeconfig by which this machine's kubelet asks for its certificate."""
    discovery = configuration["discovery"]
    try:
        if discovery.get("file"):
            config = await discovery_file.discover(discovery["file"]["kubeConfigPath"], seconds)
        else:
            config = await _by_token(discovery["bootstrapToken"], seconds)
    except KubeadmError as error:
        raise KubeadmError(f"couldn't validate the identity of the API Server: {error}") from None
    if not discovery.get("tlsBootstrapToken"):
        if not discovery_file.has_credentials(config):
            raise KubeadmError(
                "could not find authentication credentials for the TLS bootstrap process. Please use Token discovery, a "
                "discovery file with embedded authentication credentials or a discovery file without authentication "
                "credentials but with the TLSBootstrapToken flag"
            )
        return config
    cluster = cluster_of(config)
    authority = base64.b64decode(cluster.get("certificate-authority-data") or "")
    user = {"token": discovery["tlsBootstrapToken"]}
    return kubeconfig_files.value(cluster["server"], "kubernetes", authority, BOOTSTRAP_USER, user)


def cluster_of(config: Object) -> Object:
    """Return the cluster of a kubeconfig that has one."""
    clusters = config.get("clusters")
    first = clusters[0] if isinstance(clusters, list) and clusters else None
    cluster = first.get("cluster") if isinstance(first, dict) else None
    if not isinstance(cluster, dict) or not isinstance(cluster.get("server"), str) or not cluster["server"]:
        raise KubeadmError("malformed kubeconfig in the cluster-info ConfigMap: it names no cluster")
    return dict(cluster)


async def _by_token(bootstrap: Object, seconds: float) -> Object:
    identity, secret = tokens.parts(bootstrap["token"])
    server = f"https://{bootstrap['apiServerEndpoint']}"
    pins = _pins(bootstrap.get("caCertHashes") or [])
    text = await _cluster_info(server, Authority(verify=False), identity, secret, seconds)
    config = parsed(text)
    if not pins:
        return config
    authority = base64.b64decode(cluster_of(config).get("certificate-authority-data") or "")
    hashes = certificate_files.bundle_hashes(authority)
    if not pins & set(hashes):
        listed = ", ".join(hashes)
        raise KubeadmError(
            "cluster CA found in cluster-info ConfigMap is invalid: none of the public keys "
            f'"{listed}" are pinned'
        )
    again = await _cluster_info(server, Authority(text=authority.decode()), identity, secret, seconds)
    if again != text:
        raise KubeadmError(
            "the second kubeconfig from the cluster-info ConfigMap (using validated TLS) was different from the first"
        )
    return config


def _pins(hashes: list[str]) -> set[str]:
    for text in hashes:
        form, separator, digits = text.partition(":")
        if not separator:
            raise KubeadmError(
                'invalid discovery token CA certificate hash: invalid hash, expected "format:hex-value"'
            )
        if form.lower() != "sha256":
            raise KubeadmError(f'invalid discovery token CA certificate hash: unknown hash format "{form}"')
        try:
            if len(bytes.fromhex(digits)) != 32:
                raise ValueError
        except ValueError:
            raise KubeadmError(
                f"invalid discovery token CA certificate hash: expected a 32 byte SHA-256 hash, got {digits!r}"
            ) from None
    return {f"sha256:{text.partition(':')[2].lower()}" for text in hashes}


async def _cluster_info(server: str, authority: Authority, identity: str, secret: str, seconds: float) -> str:
    """Return the kubeconfig of cluster-info, whose signature is good; it may take a while until it is there."""
    deadline = asyncio.get_running_loop().time() + seconds
    client = Client(RestTransport(server, Anonymous(authority)), user_agent="kubeadm")
    try:
        while True:
            try:
                cluster_info = await client.get(CONFIG_MAPS, "cluster-info", "kube-public")
                data = texts(cluster_info)
                signature = data.get(f"{_PREFIX}{identity}")
                if signature:
                    return _verified(data, signature, identity, secret)
                problem = (
                    f'could not find a JWS signature in the cluster-info ConfigMap for token ID "{identity}"'
                )
            except (OSError, StatusError) as error:
                problem = f"failed to request the cluster-info ConfigMap: {error}"
            if asyncio.get_running_loop().time() > deadline:
                raise KubeadmError(problem)
            await asyncio.sleep(_RETRY_SECONDS)
    finally:
        await client.close()


def texts(config_map: object) -> dict[str, str]:
    """Return the data of what a server that nobody trusts yet calls a ConfigMap."""
    data = config_map.get("data") if isinstance(config_map, dict) else None
    if not isinstance(data, dict):
        return {}
    return {name: text for name, text in data.items() if isinstance(text, str)}


def _verified(data: dict[str, str], signature: str, identity: str, secret: str) -> str:
    content = data.get("kubeconfig")
    if not content:
        raise KubeadmError(
            "there is no kubeconfig key in the cluster-info ConfigMap. This API Server isn't set up for token bootstrapping, "
            "can't connect"
        )
    if not signature_is_valid(signature, content, identity, secret):
        raise KubeadmError(
            "failed to verify JWS signature of received cluster info object, can't trust this API Server"
        )
    return content


def signature_is_valid(signature: str, content: str, identity: str, secret: str) -> bool:
    """Return whether a detached signature of a text was made with a token."""
    header, _, rest = signature.partition("..")
    if len(header) > _LONGEST_HEADER:
        return False
    try:
        about = json.loads(jose.decode(header.encode()))
    except ValueError:
        return False
    if not isinstance(about, dict) or about.get("alg") != "HS256" or about.get("kid") != identity:
        return False
    signed = f"{header}.{jose.encode(content.encode())}".encode()
    expected = jose.encode(hmac.new(secret.encode(), signed, hashlib.sha256).digest())
    return hmac.compare_digest(expected.encode(), rest.encode())


def parsed(text: str) -> Object:
    """Return a kubeconfig of a text."""
    try:
        value, _ = yaml_reader.loads(text.encode())
    except yaml_reader.YamlError as error:
        raise KubeadmError(
            f"couldn't parse the kubeconfig file in the cluster-info ConfigMap: {error}"
        ) from None
    if not isinstance(value, dict):
        raise KubeadmError(
            "couldn't parse the kubeconfig file in the cluster-info ConfigMap: it is no object"
        )
    return value
