"""What a configuration must not say, in upstream's words and order."""

from __future__ import annotations

import logging
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.strict_types import aggregate
from pybernetes.api.text import durations
from pybernetes.tools.kubeadm.configuration import networks
from pybernetes.tools.kubeadm.configuration.validation_parts import (
    absolute_path,
    alternative_names,
    api_endpoint,
    certificate_key,
    extra_args,
    feature_gates,
    image_repository,
    pull_policy,
    registration,
    socket_path,
)
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.tokens import TOKEN, USAGES, problem_with_group

log = logging.getLogger(__name__)
ALGORITHMS = ("ECDSA-P256", "ECDSA-P384", "RSA-2048", "RSA-3072", "RSA-4096")
# As umount2(2) has them.
UNMOUNT_FLAGS = {"MNT_FORCE": 1, "MNT_DETACH": 2, "MNT_EXPIRE": 4, "UMOUNT_NOFOLLOW": 8}
_YEAR = 365 * 86400.0


def check(errors: Errors) -> None:
    """Raise KubeadmError if there are errors."""
    if errors:
        raise KubeadmError(aggregate([str(error) for error in errors]))


def init(configuration: Object, cluster_configuration: Object) -> Errors:
    """Return what is wrong with an InitConfiguration and its ClusterConfiguration."""
    errors = Errors()
    registration(errors, configuration["nodeRegistration"], Path("nodeRegistration"))
    _tokens(errors, configuration["bootstrapTokens"], Path("bootstrapTokens"))
    cluster(errors, cluster_configuration)
    api_endpoint(errors, configuration["localAPIEndpoint"], Path("localAPIEndpoint"))
    certificate_key(errors, configuration.get("certificateKey", ""), Path("certificateKey"))
    return errors


def cluster(errors: Errors, configuration: Object) -> None:
    """Collect what is wrong with a ClusterConfiguration."""
    if configuration["dns"].get("imageRepository"):
        image_repository(errors, configuration["dns"]["imageRepository"], Path("dns") / "imageRepository")
    networks.check(errors, configuration, Path("networking"))
    alternative_names(errors, configuration["apiServer"].get("certSANs"), Path("apiServer") / "certSANs")
    for component in ("apiServer", "controllerManager", "scheduler"):
        extra_args(errors, configuration[component].get("extraArgs"), Path(component) / "extraArgs")
    absolute_path(errors, configuration["certificatesDir"], Path("certificatesDir"))
    feature_gates(errors, configuration.get("featureGates") or {}, Path("featureGates"))
    endpoint = configuration.get("controlPlaneEndpoint", "")
    if endpoint and networks.host_port(endpoint) is None:
        errors.invalid(Path("controlPlaneEndpoint"), endpoint, "endpoint is not valid")
    image_repository(errors, configuration["imageRepository"], Path("imageRepository"))
    _etcd(errors, configuration["etcd"], Path("etcd"))
    algorithm = configuration["encryptionAlgorithm"]
    if algorithm not in ALGORITHMS:
        known = " ".join(ALGORITHMS)
        errors.invalid(
            Path("encryptionAlgorithm"),
            algorithm,
            f'Invalid encryption algorithm "{algorithm}". Must be one of [{known}]',
        )
    _warn_of_validity(configuration)


def _warn_of_validity(configuration: Object) -> None:
    own = durations.parse_duration(configuration["certificateValidityPeriod"])
    authority = durations.parse_duration(configuration["caCertificateValidityPeriod"])
    for name, value, most, what in (
        ("certificateValidityPeriod", own, _YEAR, "certificate"),
        ("caCertificateValidityPeriod", authority, 10 * _YEAR, "CA certificate"),
    ):
        if value > most:
            log.warning(
                "WARNING: %s: the value %s is more than the recommended default for %s expiration: %s",
                name, configuration[name], what, f"{int(most // 3600)}h0m0s",
            )  # fmt: skip
    if own > authority:
        log.warning(
            "WARNING: certificateValidityPeriod: the value %s is more than the caCertificateValidityPeriod: %s",
            configuration["certificateValidityPeriod"],
            configuration["caCertificateValidityPeriod"],
        )


def _etcd(errors: Errors, etcd: Object, path: Path) -> None:
    local, external = etcd.get("local"), etcd.get("external")
    if local is not None and external is not None:
        errors.invalid(path, "", ".Etcd.Local and .Etcd.External are mutually exclusive")
        return
    if local is not None:
        where = path / "local"
        absolute_path(errors, local["dataDir"], where / "dataDir")
        for name in ("serverCertSANs", "peerCertSANs"):
            alternative_names(errors, local.get(name), where / name)
        if local.get("imageRepository"):
            image_repository(errors, local["imageRepository"], where / "imageRepository")
        extra_args(errors, local.get("extraArgs"), where / "extraArgs")
    if external is not None:
        _external_etcd(errors, external, path / "external")


def _external_etcd(errors: Errors, external: Object, path: Path) -> None:
    authority, certificate, key = (external.get(name) or "" for name in ("caFile", "certFile", "keyFile"))
    if bool(certificate) != bool(key):
        text = "either both or none of .Etcd.External.CertFile and .Etcd.External.KeyFile must be set"
        errors.invalid(path, "", text)
    if certificate and key and not authority:
        text = "setting .Etcd.External.CertFile and .Etcd.External.KeyFile requires .Etcd.External.CAFile"
        errors.invalid(path, "", text)
    if not external.get("endpoints"):
        errors.invalid(path / "endpoints", "", "at least one endpoint must be specified")
    else:
        _urls(errors, external["endpoints"], bool(authority or certificate or key), path / "endpoints")
    _urls(errors, external.get("httpEndpoints") or (), False, path / "httpEndpoints")
    for name, value in (("caFile", authority), ("certFile", certificate), ("keyFile", key)):
        if value:
            absolute_path(errors, value, path / name)


def _urls(errors: Errors, urls: Any, secure: bool, path: Path) -> None:
    for url in urls:
        scheme = urlsplit(url).scheme
        if secure and scheme != "https":
            errors.invalid(path, url, "the URL must be using the HTTPS scheme")
        if not scheme:
            errors.invalid(path, url, "the URL without scheme is not allowed")


def _tokens(errors: Errors, tokens: list[Object], path: Path) -> None:
    for index, token in enumerate(tokens):
        where = path / str(index)
        _token(errors, token.get("token", ""), where / "token")
        _usages(errors, token["usages"], where / "usages")
        groups = token.get("groups") or []
        if groups and "authentication" not in token["usages"]:
            text = 'token groups cannot be specified unless --usages includes "authentication"'
            errors.invalid(where / "groups", groups, text)
        for group in groups:
            if problem_with_group(group):
                errors.invalid(where / "groups", groups, problem_with_group(group))
        if token.get("expires") and token.get("ttl"):
            text = "the BootstrapToken .TTL and .Expires fields are mutually exclusive"
            errors.invalid(where, "", text)


def _usages(errors: Errors, usages: list[str], path: Path) -> None:
    unknown = sorted(set(usages) - set(USAGES))
    if unknown:
        known = ",".join(USAGES)
        errors.invalid(
            path,
            usages,
            f"invalid bootstrap token usage string: {','.join(unknown)}, valid usage options: {known}",
        )


def _token(errors: Errors, token: str, path: Path) -> None:
    if not TOKEN.match(token):
        errors.invalid(path, token, "the bootstrap token is invalid")


def join(configuration: Object) -> Errors:
    """Return what is wrong with a JoinConfiguration."""
    errors = Errors()
    _discovery(errors, configuration["discovery"], Path("discovery"))
    registration(errors, configuration["nodeRegistration"], Path("nodeRegistration"))
    control_plane = configuration.get("controlPlane")
    if control_plane is not None:
        path = Path("controlPlane")
        api_endpoint(errors, control_plane["localAPIEndpoint"], path / "localAPIEndpoint")
        certificate_key(errors, control_plane.get("certificateKey", ""), path / "certificateKey")
    authority = configuration["caCertPath"]
    if not PurePosixPath(authority).is_absolute() or not authority.endswith(".crt"):
        errors.invalid(Path("caCertPath"), authority, "the ca certificate path must be an absolute path")
    return errors


def _discovery(errors: Errors, discovery: Object, path: Path) -> None:
    bootstrap, file = discovery.get("bootstrapToken"), discovery.get("file")
    if bootstrap is None and file is None:
        errors.invalid(path, "", "bootstrapToken or file must be set")
    if bootstrap is not None and file is not None:
        errors.invalid(path, "", "bootstrapToken and file cannot both be set")
    if bootstrap is not None:
        where = path / "bootstrapToken"
        endpoint = bootstrap.get("apiServerEndpoint", "")
        if not endpoint:
            errors.required(where, "APIServerEndpoint is not set")
        if not bootstrap.get("caCertHashes") and not bootstrap.get("unsafeSkipCAVerification"):
            text = (
                "using token-based discovery without caCertHashes can be unsafe. Set unsafeSkipCAVerification as true in your "
                "kubeadm config file or pass --discovery-token-unsafe-skip-ca-verification flag to continue"
            )
            errors.invalid(where / "caCertHashes", "", text)
        _token(errors, bootstrap.get("token", ""), where / "token")
        problem = networks.problem_with_address(endpoint)
        if problem:
            errors.invalid(where / "apiServerEndpoint", endpoint, problem)
        _token(errors, discovery.get("tlsBootstrapToken", ""), path / "tlsBootstrapToken")
    if file is not None:
        _discovery_file(errors, file.get("kubeConfigPath", ""), path / "file" / "kubeConfigPath")
        if discovery.get("tlsBootstrapToken"):
            _token(errors, discovery["tlsBootstrapToken"], path / "tlsBootstrapToken")


def _discovery_file(errors: Errors, file: str, path: Path) -> None:
    import os

    scheme = urlsplit(file).scheme
    if not scheme and not os.path.exists(file):
        errors.invalid(path, file, "not a valid HTTPS URL or a file on disk")
    elif scheme and scheme != "https":
        errors.invalid(path, file, "if a URL is used, the scheme must be https")


def reset(configuration: Object) -> Errors:
    """Return what is wrong with a ResetConfiguration."""
    errors = Errors()
    socket_path(errors, configuration.get("criSocket", ""), Path("criSocket"))
    absolute_path(errors, configuration["certificatesDir"], Path("certificatesDir"))
    for index, flag in enumerate(configuration.get("unmountFlags") or ()):
        if flag not in UNMOUNT_FLAGS:
            errors.invalid(Path("unmountFlags"), f"index {index}", f"unknown unmount flag {flag}")
    return errors


def upgrade(configuration: Object) -> Errors:
    """Return what is wrong with an UpgradeConfiguration."""
    errors = Errors()
    for part in ("apply", "node"):
        patches = configuration[part].get("patches")
        if patches is not None:
            absolute_path(errors, patches.get("directory", ""), Path(part) / "patches" / "directory")
    for part in ("apply", "node"):
        pull_policy(errors, configuration[part]["imagePullPolicy"], Path(part) / "imagePullPolicy")
    return errors
