"""What is known about an issuer of tokens before one is seen, and the environments of its expressions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from pybernetes.api.cel import types
from pybernetes.api.cel.engine import Environment, Program
from pybernetes.api.cel.types import DYN, STRING

ALGORITHMS = ("ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512")


@dataclass(frozen=True, slots=True)
class Mapping:
    """How a field of the user comes from claims: a claim with a prefix, or an expression."""

    claim: str = ""
    prefix: str = ""
    expression: Program | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """An expression that must be true, and what is said if it is not."""

    expression: Program
    message: str = ""


@dataclass(frozen=True, slots=True)
class JwtSettings:
    """One issuer."""

    url: str
    audiences: tuple[str, ...]
    username: Mapping
    groups: Mapping = Mapping()
    uid: Mapping = Mapping()
    extra: tuple[tuple[str, Program], ...] = ()
    required: tuple[tuple[str, str], ...] = ()
    claim_rules: tuple[Rule, ...] = ()
    user_rules: tuple[Rule, ...] = ()
    discovery_url: str = ""
    authority: str = ""  # PEM; the system's if empty
    algorithms: tuple[str, ...] = ALGORITHMS
    egress: str = ""  # the egress selection by which the provider is reached; directly if empty


@cache
def claims_environment() -> Environment:
    """Return what expressions over claims see."""
    return Environment({"claims": types.map_of(STRING, DYN)})


@cache
def user_environment() -> Environment:
    """Return what expressions over the user see."""
    strings = types.list_of(STRING)
    fields = {
        "username": STRING,
        "uid": STRING,
        "groups": strings,
        "extra": types.map_of(STRING, strings),
    }
    return Environment({"user": types.object_of("kubernetes.UserInfo", fields)})
