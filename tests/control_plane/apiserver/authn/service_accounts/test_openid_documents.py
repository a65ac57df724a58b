"""What others need to check the tokens of a running server."""

from __future__ import annotations

from cryptography.hazmat.primitives.asymmetric import ec

from pybernetes.lib.tokens import jose
from tests.control_plane.apiserver.authn.credentials import (
    ISSUER,
    World,
)


def test_others_can_check_our_tokens(world: World) -> None:
    """With nothing but what the server publishes."""
    token = world.token("robot", audiences=["vault"])
    reader = world.token("other")  # every service account may read these
    status, configuration = world.call("GET", "/.well-known/openid-configuration", token=reader)
    assert status == 200 and configuration["issuer"] == ISSUER
    assert configuration["jwks_uri"] == f"https://127.0.0.1:{world.server.port}/openid/v1/jwks"
    status, key_set = world.call("GET", "/openid/v1/jwks", token=reader)
    assert status == 200
    parsed = jose.parse(token.encode())
    (jwk,) = [key for key in key_set["keys"] if key["kid"] == parsed.header["kid"]]
    x, y = (int.from_bytes(jose.decode(jwk[axis].encode()), "big") for axis in "xy")
    numbers = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1())
    jose.verify(parsed, [jose.verifying_key(numbers.public_key())])
    assert parsed.claims["aud"] == ["vault"] and parsed.claims["iss"] == configuration["issuer"]
