"""AuthenticationConfiguration: issuers of tokens and anonymous clients, read strictly and checked, in upstream's words."""

from __future__ import annotations

import ssl
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pybernetes.api.cel.admission import compile_expression
from pybernetes.api.cel.engine import CelError, Environment, Program, nodes
from pybernetes.api.cel.tree import Call, Ident, Literal, Select
from pybernetes.api.cel.types import BOOL
from pybernetes.api.field import Errors, Path
from pybernetes.api.strict_types import (
    BOOL as BOOLEAN,
)
from pybernetes.api.strict_types import (
    STRING,
    STRINGS,
    Many,
    Problem,
    Struct,
    aggregate,
    read_document,
    read_file,
)
from pybernetes.api.validation.domains import domain_prefixed_path
from pybernetes.control_plane.apiserver.authn.jwt import settings
from pybernetes.control_plane.apiserver.authn.jwt.settings import JwtSettings, Rule
from pybernetes.lib.tls import tls

_GROUP, _KIND = "apiserver.config.k8s.io", "AuthenticationConfiguration"
_VERSIONS = ("v1", "v1beta1", "v1alpha1")
_SCHEME = "pkg/kubeapiserver/options/authentication.go:56"
_MOST = 64
_MATCH_ANY = "MatchAny"
_PREFIXED = Struct("v1.PrefixedClaimOrExpression", {"claim": STRING, "prefix": STRING, "expression": STRING})
_ISSUER = Struct(
    "v1.Issuer",
    {
        "url": STRING,
        "discoveryURL": STRING,
        "certificateAuthority": STRING,
        "audiences": STRINGS,
        "audienceMatchPolicy": STRING,
        "egressSelectorType": STRING,
    },
)
_MAPPINGS = Struct(
    "v1.ClaimMappings",
    {
        "username": _PREFIXED,
        "groups": _PREFIXED,
        "uid": Struct("v1.ClaimOrExpression", {"claim": STRING, "expression": STRING}),
        "extra": Many(Struct("v1.ExtraMapping", {"key": STRING, "valueExpression": STRING})),
    },
)
_CLAIM_RULE = Struct(
    "v1.ClaimValidationRule",
    {"claim": STRING, "requiredValue": STRING, "expression": STRING, "message": STRING},
)
_JWT = Struct(
    "v1.JWTAuthenticator",
    {
        "issuer": _ISSUER,
        "claimValidationRules": Many(_CLAIM_RULE),
        "claimMappings": _MAPPINGS,
        "userValidationRules": Many(
            Struct("v1.UserValidationRule", {"expression": STRING, "message": STRING})
        ),
    },
)
_ANONYMOUS = Struct(
    "v1.AnonymousAuthConfig",
    {"enabled": BOOLEAN, "conditions": Many(Struct("v1.AnonymousAuthCondition", {"path": STRING}))},
)
_DOCUMENT = Struct(
    "v1.AuthenticationConfiguration",
    {"kind": STRING, "apiVersion": STRING, "jwt": Many(_JWT), "anonymous": _ANONYMOUS},
)


@dataclass(frozen=True, slots=True)
class Anonymous:
    """Whether clients without credentials are let in; with paths only to these."""

    enabled: bool
    paths: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class AuthenticationSettings:
    """What a file says; without a word about anonymous clients a flag decides."""

    issuers: tuple[JwtSettings, ...] = ()
    anonymous: Anonymous | None = None


def load(path: str, own_issuers: Collection[str]) -> AuthenticationSettings:
    """Return what a file says; ValueError tells what is wrong with it. The server's own issuers cannot be in it."""
    begin = f'failed to load authentication configuration from file "{path}": '
    try:
        raw = read_file(path)
    except OSError as error:
        raise ValueError(begin + str(error)) from None
    if not raw:
        raise ValueError(begin + "empty config data")
    try:
        document = read_document(
            raw, {(f"{_GROUP}/{version}", _KIND): _DOCUMENT for version in _VERSIONS}, _SCHEME
        )
    except Problem as error:
        raise ValueError(begin + str(error)) from None
    problems = Errors()
    result = read(document, own_issuers, problems)
    if problems:
        listed = aggregate([str(problem) for problem in problems])
        raise ValueError(f"invalid authentication configuration: {listed}")
    return result


def read(
    document: Mapping[str, Any], own_issuers: Collection[str], problems: Errors
) -> AuthenticationSettings:
    """Return what a decoded document says; what is wrong with it is added to the problems."""
    root = Path("jwt")
    given = document.get("jwt") or []
    if len(given) > _MOST:
        problems.too_many(root, len(given), _MOST)
        return AuthenticationSettings()
    issuers: list[JwtSettings] = []
    seen: dict[str, set[str]] = {"url": set(), "discoveryURL": set()}
    for index, entry in enumerate(given):
        path, issuer = root[index], entry.get("issuer") or {}
        issuers.append(_jwt(entry, path, own_issuers, problems))
        for name, known in seen.items():
            value = issuer.get(name, "")
            if value in known and (value or name == "url"):
                problems.duplicate(path / "issuer" / name, value)
            known.add(value)
    anonymous = document.get("anonymous")
    if anonymous is None:
        return AuthenticationSettings(tuple(issuers))
    conditions = anonymous.get("conditions") or []
    if conditions and not anonymous.get("enabled"):
        shown = [{"Path": condition.get("path", "")} for condition in conditions]
        problems.invalid(
            "anonymous.conditions", shown, "enabled should be set to true when conditions are defined"
        )
    paths = frozenset(condition.get("path", "") for condition in conditions)
    return AuthenticationSettings(tuple(issuers), Anonymous(anonymous.get("enabled", False), paths))


def _jwt(entry: Mapping[str, Any], path: Path, own: Collection[str], problems: Errors) -> JwtSettings:
    issuer = entry.get("issuer") or {}
    _check_issuer(issuer, path / "issuer", own, problems)
    programs: list[Program] = []
    required, claim_rules = _claim_rules(entry.get("claimValidationRules") or [], path, programs, problems)
    mappings, where = entry.get("claimMappings") or {}, path / "claimMappings"
    username = _prefixed(mappings.get("username") or {}, where / "username", problems, required=True)
    groups = _prefixed(mappings.get("groups") or {}, where / "groups", problems, required=False)
    given = mappings.get("uid") or {}
    uid = settings.Mapping(given.get("claim", ""))
    if given.get("claim") and given.get("expression"):
        problems.invalid(where / "uid", "", "claim and expression can't both be set")
    elif given.get("expression"):
        program = _claims(given["expression"], where / "uid" / "expression", problems)
        uid = settings.Mapping(expression=program)
    extra = _extra(mappings.get("extra") or [], where / "extra", problems)
    programs += [program for _, program in extra]
    if username.expression is not None and _uses(username.expression, "email"):
        if not any(_uses(program, "email_verified") for program in (username.expression, *programs)):
            problems.invalid(
                where / "username" / "expression", username.expression.source,
                "claims.email_verified must be used in claimMappings.username.expression or "
                "claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in "
                "claimMappings.username.expression",
            )  # fmt: skip
    user_rules = _user_rules(entry.get("userValidationRules") or [], path / "userValidationRules", problems)
    return JwtSettings(
        issuer.get("url", ""), tuple(issuer.get("audiences") or ()), username, groups, uid, tuple(extra),
        tuple(required), tuple(claim_rules), tuple(user_rules), issuer.get("discoveryURL", ""),
        issuer.get("certificateAuthority", ""), egress=issuer.get("egressSelectorType", ""),
    )  # fmt: skip


# -- the issuer ----------------------------------------------------------------------------------------------


def _check_issuer(issuer: Mapping[str, Any], path: Path, own: Collection[str], problems: Errors) -> None:
    url, discovery = issuer.get("url", ""), issuer.get("discoveryURL", "")
    if not url:
        problems.required(path / "url")
    else:
        if url in own:
            shown = " ".join(sorted(own))
            problems.invalid(path / "url", url, f"URL must not overlap with disallowed issuers: [{shown}]")
        _check_url(url, path / "url", problems)
    if discovery:
        if url and url.rstrip("/") == discovery.rstrip("/"):
            problems.invalid(path / "discoveryURL", discovery, "discoveryURL must be different from URL")
        _check_url(discovery, path / "discoveryURL", problems)
    _check_audiences(issuer, path, problems)
    if authority := issuer.get("certificateAuthority", ""):
        try:
            tls.client_context(authority_data=authority)
        except (ssl.SSLError, ValueError):
            text = "data does not contain any valid RSA or ECDSA certificates"
            problems.invalid(path / "certificateAuthority", "<omitted>", text)
    selector = issuer.get("egressSelectorType", "")
    if selector not in ("", "controlplane", "cluster"):
        text = "egress selector must be either controlplane or cluster"
        problems.invalid(path / "egressSelectorType", selector, text)


def _check_url(url: str, path: Path, problems: Errors) -> None:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        problems.invalid(path, url, str(error))
        return
    if parts.scheme != "https":
        problems.invalid(path, url, "URL scheme must be https")
    if parts.username is not None:
        problems.invalid(path, url, "URL must not contain a username or password")
    if parts.query:
        problems.invalid(path, url, "URL must not contain a query")
    if parts.fragment:
        problems.invalid(path, url, "URL must not contain a fragment")


def _check_audiences(issuer: Mapping[str, Any], path: Path, problems: Errors) -> None:
    audiences, policy = issuer.get("audiences") or [], issuer.get("audienceMatchPolicy", "")
    where = path / "audiences"
    if not audiences:
        problems.required(where, f"at least one {where} is required")
        return
    for index, audience in enumerate(audiences):
        if not audience:
            problems.required(where[index])
        if audience in audiences[:index]:
            problems.duplicate(where[index], audience)
    if len(audiences) > 1 and policy != _MATCH_ANY:
        text = "audienceMatchPolicy must be MatchAny for multiple audiences"
        problems.invalid(path / "audienceMatchPolicy", policy, text)
    if len(audiences) == 1 and policy not in ("", _MATCH_ANY):
        text = "audienceMatchPolicy must be empty or MatchAny for single audience"
        problems.invalid(path / "audienceMatchPolicy", policy, text)


# -- claims and users ----------------------------------------------------------------------------------------


def _compile(
    source: str, where: Environment, path: Path, problems: Errors, returns: Collection[Any] = ()
) -> Program | None:
    try:
        return compile_expression(source, where, returns)
    except CelError as error:
        problems.invalid(path, source, str(error))
        return None


def _claims(source: str, path: Path, problems: Errors) -> Program | None:
    return _compile(source, settings.claims_environment(), path, problems)


def _claim_rules(
    rules: list[Mapping[str, Any]], path: Path, programs: list[Program], problems: Errors
) -> tuple[list[tuple[str, str]], list[Rule]]:
    required: dict[str, str] = {}
    compiled: dict[str, Rule] = {}
    for index, rule in enumerate(rules):
        where = path / "claimValidationRules"
        here, claim, source = where[index], rule.get("claim", ""), rule.get("expression", "")
        if claim and source:
            problems.invalid(here, claim, "claim and expression can't both be set")
        elif not claim and not source:
            problems.required(here, "claim or expression is required")
        elif claim:
            if rule.get("message"):
                problems.invalid(here / "message", rule["message"], "may not be specified when claim is set")
            if claim in required:
                problems.duplicate(here / "claim", claim)
            required[claim] = rule.get("requiredValue", "")
        else:
            if rule.get("requiredValue"):
                text = "may not be specified when expression is set"
                problems.invalid(here / "requiredValue", rule["requiredValue"], text)
            if source in compiled:
                problems.duplicate(here / "expression", source)
                continue
            program = _compile(source, settings.claims_environment(), here / "expression", problems, [BOOL])
            if program is not None:
                compiled[source] = Rule(program, rule.get("message", ""))
                programs.append(program)
    return list(required.items()), list(compiled.values())


def _prefixed(given: Mapping[str, Any], path: Path, problems: Errors, *, required: bool) -> settings.Mapping:
    claim, source = given.get("claim", ""), given.get("expression", "")
    if claim and source:
        problems.invalid(path, "", "claim and expression can't both be set")
    elif not claim and not source:
        if required:
            problems.required(path, "claim or expression is required")
    elif source:
        if "prefix" in given:
            text = "may not be specified when expression is set"
            problems.invalid(path / "prefix", given["prefix"], text)
        return settings.Mapping(expression=_claims(source, path / "expression", problems))
    elif "prefix" not in given:
        problems.required(
            path / "prefix",
            "prefix is required when claim is set. It can be set to an empty string to disable prefixing",
        )
    return settings.Mapping(claim, given.get("prefix", ""))


def _extra(mappings: list[Mapping[str, Any]], path: Path, problems: Errors) -> list[tuple[str, Program]]:
    compiled: dict[str, Program] = {}
    seen: set[str] = set()
    for index, mapping in enumerate(mappings):
        here, key, source = path[index], mapping.get("key", ""), mapping.get("valueExpression", "")
        domain, slash, _ = key.partition("/")
        domain_prefixed_path(key, here / "key", problems)
        if key != key.lower():
            problems.invalid(here / "key", key, "must be lowercase")
        if slash and f".{domain}".endswith((".k8s.io", ".kubernetes.io")):
            text = "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use"
            problems.invalid(here / "key", key, text)
        if key in seen:
            problems.duplicate(here / "key", key)
            continue
        seen.add(key)
        if not source:
            problems.required(here / "valueExpression")
        elif (program := _claims(source, here / "valueExpression", problems)) is not None:
            compiled[key] = program
    return list(compiled.items())


def _user_rules(rules: list[Mapping[str, Any]], path: Path, problems: Errors) -> list[Rule]:
    compiled: dict[str, Rule] = {}
    for index, rule in enumerate(rules):
        where, source = path[index] / "expression", rule.get("expression", "")
        if not source:
            problems.required(where)
        elif source in compiled:
            problems.duplicate(where, source)
        else:
            program = _compile(source, settings.user_environment(), where, problems, [BOOL])
            if program is not None:
                compiled[source] = Rule(program, rule.get("message", ""))
    return list(compiled.values())


def _uses(program: Program, claim: str) -> bool:
    """Return whether an expression looks at a claim: ``claims.email``, or ``claims.?email`` where it may be absent."""
    for node in nodes(program.tree):
        match node:
            case Select(operand=Ident(name="claims"), name=name) if name == claim:
                return True
            case Call(function="_?._", args=[Ident(name="claims"), Literal(value=value)]) if value == claim:
                return True
    return False
