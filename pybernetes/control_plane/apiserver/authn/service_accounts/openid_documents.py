"""What others need to check our tokens: the OpenID Connect discovery document and the key set."""

from __future__ import annotations

from urllib.parse import urlsplit

import orjson

from pybernetes.control_plane.apiserver.authn.service_accounts.settings import ServiceAccounts
from pybernetes.lib.http.messages import Response

CONFIGURATION = "/.well-known/openid-configuration"
KEYS = "/openid/v1/jwks"
_CACHED = ((b"Cache-Control", b"public, max-age=3600"),)


def documents(accounts: ServiceAccounts, address: str) -> dict[str, Response]:
    """Return the answers by path; none if the issuer is not a name that the standard allows."""
    issuer = urlsplit(accounts.issuers[0])
    if issuer.scheme != "https" or issuer.query or issuer.fragment:
        return {}
    configuration = {
        "issuer": accounts.issuers[0],
        "jwks_uri": accounts.jwks_uri or f"https://{address}{KEYS}",
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": sorted({key.algorithm for key in accounts.keys}),
    }
    keys = {"keys": [key.jwk for key in accounts.keys]}
    return {
        CONFIGURATION: Response(orjson.dumps(configuration), 200, b"application/json", _CACHED),
        KEYS: Response(orjson.dumps(keys), 200, b"application/jwk-set+json", _CACHED),
    }
