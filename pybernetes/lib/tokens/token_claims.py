"""What a JSON Web Token says of itself, for whoever does not check its signature: the holder of a token, above all.

It is the text of somebody else, and to be believed only as far as that goes; ``lib/tokens/jose.py`` has what is signed.
"""

from __future__ import annotations

import base64
from typing import Any

import orjson


def token_claims(token: str) -> dict[str, Any]:
    """Return what a token claims; ValueError if it is none."""
    parts = token.split(".")
    if len(parts) != 3:
        raise ValueError("a token has three parts")
    claims = orjson.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    if not isinstance(claims, dict):
        raise ValueError("the claims of a token are an object")
    return claims
