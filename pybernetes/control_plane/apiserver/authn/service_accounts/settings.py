"""How this server names itself in tokens, and with which keys it signs and checks them."""

from __future__ import annotations

import argparse
import logging
from dataclasses import dataclass
from pathlib import Path

from pybernetes.control_plane.apiserver.authn.authenticator import Audiences
from pybernetes.lib.flags import Flag, Repeated, Seconds
from pybernetes.lib.tls import tls
from pybernetes.lib.tokens import jose

log = logging.getLogger(__name__)
DEFAULT_ISSUER = "https://kubernetes.default.svc.cluster.local"
# What kubelets ask for on behalf of a pod that did not choose: such tokens go on working, but are told to be stale.
WARN_SECONDS = 60 * 60 + 7
EXTENDED_SECONDS = 365 * 24 * 60 * 60


FLAGS = (
    Flag(
        "service-account-issuer", Repeated(),
        f"name of the issuer of tokens; the first is used for new ones, all are accepted ({DEFAULT_ISSUER})",
    ),
    Flag(
        "service-account-key-file", Repeated(),
        "keys or certificates that tokens are checked with; may be repeated (the signing key)",
    ),
    Flag(
        "service-account-signing-key-file", "",
        "private key that tokens are signed with (sa.key in the certificate directory, made if need be)",
    ),
    Flag("service-account-jwks-uri", "", "where others find the keys, if not at this server"),
    Flag(
        "service-account-max-token-expiration", Seconds(0),
        "longest life of a token, between 1 hour and 2^32 seconds",
    ),
    Flag(
        "service-account-extend-token-expiration", True,
        "let tokens of pods that did not choose a life last for a year",
    ),
    Flag("service-account-lookup", True, "check that the secret of an old token still exists"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ServiceAccounts:
    """The issuer of tokens. The first of the issuers is the one that new tokens name."""

    issuers: tuple[str, ...]
    audiences: Audiences
    signer: jose.SigningKey
    keys: tuple[jose.VerifyingKey, ...]
    max_seconds: int = 0
    extend: bool = True
    lookup: bool = True
    jwks_uri: str = ""


def settings(arguments: argparse.Namespace) -> ServiceAccounts:
    """Return what the flags say; ValueError if that makes no sense."""
    issuers = tuple(arguments.service_account_issuer) or (DEFAULT_ISSUER,)
    if not all(issuers):
        raise ValueError("--service-account-issuer should not be an empty string")
    if len(set(issuers)) < len(issuers):
        raise ValueError("--service-account-issuer: the same issuer is there more than once")
    if arguments.service_account_jwks_uri and not arguments.service_account_jwks_uri.startswith("https://"):
        raise ValueError("--service-account-jwks-uri requires https scheme")
    longest = arguments.service_account_max_token_expiration
    if longest and not 3600 <= longest <= 1 << 32:
        raise ValueError("--service-account-max-token-expiration must be between 1 hour and 2^32 seconds")
    extend = arguments.service_account_extend_token_expiration
    if extend and 0 < longest < EXTENDED_SECONDS:
        log.warning(
            "--service-account-extend-token-expiration is on: tokens of pods are valid for up to %d seconds, which "
            "is longer than --service-account-max-token-expiration",
            EXTENDED_SECONDS,
        )
    signer, keys = _keys(arguments)
    return ServiceAccounts(
        issuers, tuple(arguments.api_audiences) or issuers, signer, keys, int(longest), extend,
        arguments.service_account_lookup, arguments.service_account_jwks_uri,
    )  # fmt: skip


def _keys(arguments: argparse.Namespace) -> tuple[jose.SigningKey, tuple[jose.VerifyingKey, ...]]:
    if arguments.service_account_signing_key_file:
        signer = jose.read_private_key(Path(arguments.service_account_signing_key_file))
    elif arguments.service_account_key_file:
        raise ValueError("--service-account-key-file needs --service-account-signing-key-file")
    else:
        signer = jose.read_private_key(ensure_key(Path(arguments.cert_dir)))
    given = [key for path in arguments.service_account_key_file for key in jose.read_public_keys(Path(path))]
    unique = {key.id: key for key in given or [signer.public]}
    return signer, tuple(unique.values())


def ensure_key(directory: Path) -> Path:
    """Return the private key of a directory, made with its public half if there is none."""
    private, public = directory / "sa.key", directory / "sa.pub"
    if not private.exists():
        pem = jose.new_private_key()
        tls.write_atomically(private, pem, 0o600)
        tls.write_atomically(public, jose.public_pem(pem))
    return private
