"""From flags, or from the file that one of them names, to the issuers whose tokens are believed."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pybernetes.api.field import Errors
from pybernetes.api.strict_types import aggregate, read_file
from pybernetes.control_plane.apiserver.authn.jwt import configuration
from pybernetes.control_plane.apiserver.authn.jwt.configuration import Anonymous, AuthenticationSettings
from pybernetes.control_plane.apiserver.authn.jwt.settings import ALGORITHMS, JwtSettings
from pybernetes.control_plane.apiserver.config_reloads import ConfigFile, ConfigReloads, content_hash
from pybernetes.control_plane.apiserver.proxy.egress_selector import EgressSelector
from pybernetes.lib.flags import Flag

if TYPE_CHECKING:
    from pybernetes.control_plane.apiserver.context import ServerContext

_OIDC = (
    Flag("oidc-issuer-url", "", "an OpenID provider whose tokens are believed"),
    Flag("oidc-client-id", "", "the audience that its tokens must be for"),
    Flag("oidc-ca-file", "", "authorities of the provider's certificate (the system's)"),
    Flag("oidc-username-claim", "sub", "the claim that is the user's name"),
    Flag("oidc-username-prefix", "", "what comes before the name (the issuer, unless the claim is email); - for nothing"),
    Flag("oidc-groups-claim", "", "the claim that lists the user's groups"),
    Flag("oidc-groups-prefix", "", "what comes before each group"),
    Flag("oidc-signing-algs", ("RS256",), "algorithms of signatures that are taken"),
    Flag("oidc-required-claim", (), "claims that must have a value: name=value"),
)  # fmt: skip
FLAGS = (
    Flag("authentication-config", "", "file with the issuers of tokens, and who may be anonymous"),
    *_OIDC,
)


class JwtConfiguration:
    """What the command line says about issuers; the file that it names is followed. ValueError if it makes no sense."""

    def __init__(
        self, arguments: argparse.Namespace, own_issuers: Collection[str], server: str, egress: EgressSelector
    ) -> None:
        self._path, self._own, self.egress = arguments.authentication_config, own_issuers, egress
        given = any(getattr(arguments, flag.attribute) != flag.default for flag in _OIDC)
        if self._path and given:
            raise ValueError("authentication-config file and oidc-* flags are mutually exclusive")
        self.anonymous: Anonymous | None = None
        self.issuers: tuple[JwtSettings, ...] = ()
        self._reloads = ConfigReloads("authentication", server)
        if self._path:
            loaded = self._load()
            self.issuers, self.anonymous = loaded.issuers, loaded.anonymous
            self._reloads.config_hash = content_hash(read_file(self._path))
            if self.anonymous is not None and not arguments.anonymous_auth:
                raise ValueError(
                    "--anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file"
                )
        elif given:
            self.issuers = (from_flags(arguments, own_issuers),)

    def _load(self) -> AuthenticationSettings:
        loaded = configuration.load(self._path, self._own)
        for issuer in loaded.issuers:
            self.egress.of_issuer(issuer.egress)
        return loaded

    def follow(self, context: ServerContext) -> ConfigFile | None:
        """Return what takes over the file when it changes; None if there is none."""
        if not self._path:
            return None

        async def take() -> None:
            loaded = self._load()
            if loaded.anonymous != self.anonymous:
                raise ValueError("changes to the anonymous field need a restart")
            jwt = context.authentication.jwt
            assert jwt is not None
            jwt.replace(loaded.issuers)
            jwt.start()

        return ConfigFile(self._path, take, self._reloads)


def from_flags(arguments: argparse.Namespace, own_issuers: Collection[str]) -> JwtSettings:
    """Return the issuer that the flags name; ValueError if they make no sense."""
    url, client = arguments.oidc_issuer_url, arguments.oidc_client_id
    if not url or not client:
        raise ValueError(
            "oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set"
        )
    for algorithm in arguments.oidc_signing_algs:
        if algorithm not in ALGORITHMS:
            raise ValueError(f'oidc: unsupported signing alg: "{algorithm}"')
    claim, prefix = arguments.oidc_username_claim, arguments.oidc_username_prefix
    if prefix == "-":
        prefix = ""
    elif not prefix and claim != "email":
        prefix = f"{url}#"
    rules = []
    for text in arguments.oidc_required_claim:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"--oidc-required-claim: {text} must be formatted as key=value")
        rules.append({"claim": name, "requiredValue": value})
    authority = Path(arguments.oidc_ca_file).read_text() if arguments.oidc_ca_file else ""
    mappings = {"username": {"claim": claim, "prefix": prefix}}
    if arguments.oidc_groups_claim:
        mappings["groups"] = {"claim": arguments.oidc_groups_claim, "prefix": arguments.oidc_groups_prefix}
    issuer = {"url": url, "audiences": [client], "certificateAuthority": authority}
    entry = {"issuer": issuer, "claimMappings": mappings, "claimValidationRules": rules}
    problems = Errors()
    (settings,) = configuration.read({"jwt": [entry]}, own_issuers, problems).issuers
    if problems:
        listed = aggregate([str(problem) for problem in problems])
        raise ValueError(f"invalid authentication configuration: {listed}")
    return replace(settings, algorithms=tuple(arguments.oidc_signing_algs))
