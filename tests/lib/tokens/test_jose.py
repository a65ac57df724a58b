"""Tokens: what was signed is accepted as it is and in no other form."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from hypothesis import given
from hypothesis import strategies as st
from jwt.algorithms import ECAlgorithm

from pybernetes.lib.tls import tls
from pybernetes.lib.tokens import jose

RSA = jose.signing_key(rsa.generate_private_key(65537, 2048))
KEYS = {
    "RS256": RSA,
    "ES256": jose.signing_key(ec.generate_private_key(ec.SECP256R1())),
    "ES384": jose.signing_key(ec.generate_private_key(ec.SECP384R1())),
    "ES512": jose.signing_key(ec.generate_private_key(ec.SECP521R1())),
}
ALL = [key.public for key in KEYS.values()]
CLAIMS = {"iss": "me", "sub": "you", "exp": 1}


def check(token: bytes | str, *keys: jose.VerifyingKey) -> jose.Parsed:
    parsed = jose.parse(token.encode() if isinstance(token, str) else token)
    jose.verify(parsed, keys or ALL)
    return parsed


@pytest.mark.parametrize("algorithm", KEYS)
def test_what_is_signed_is_accepted(algorithm: str) -> None:
    token = jose.sign(KEYS[algorithm], CLAIMS)
    parsed = check(token)
    assert parsed.claims == CLAIMS
    assert parsed.header == {"alg": algorithm, "kid": KEYS[algorithm].public.id}
    assert jose.verify(parsed, ALL) is KEYS[algorithm].public


@pytest.mark.parametrize("algorithm", KEYS)
@given(data=st.data())
def test_no_changed_token_is_accepted(algorithm: str, data: st.DataObject) -> None:
    token = jose.sign(KEYS[algorithm], CLAIMS).encode()
    position = data.draw(st.integers(0, len(token) - 1))
    other = data.draw(st.sampled_from(b"AZaz09-_.=+/ \n"))
    changed = token[:position] + bytes([other]) + token[position + 1 :]
    try:
        parsed = check(changed)
    except jose.JoseError:
        return
    # The last character of a part has bits that nothing depends on: such a token says the same.
    assert (parsed.header, parsed.claims) == (check(token).header, check(token).claims)


@given(st.binary(max_size=200) | st.text("abcXYZ019._-=", max_size=60).map(str.encode))
def test_anything_else_is_a_jose_error(text: bytes) -> None:
    with pytest.raises(jose.JoseError):
        check(text)


def forged(header: Mapping[str, object], claims: Mapping[str, object], signature: bytes) -> str:
    return ".".join(
        jose.encode(part) for part in (json.dumps(header).encode(), json.dumps(claims).encode())
    ) + ("." + jose.encode(signature))


def test_the_key_says_which_algorithm() -> None:
    header, body, signature = jose.sign(RSA, CLAIMS).split(".")
    public = RSA.public.jwk["n"].encode()
    for algorithm in ("none", "None", "", "HS256", "RS512", "PS256", "ES256", None, 1):
        forgery = {"alg": algorithm, "kid": RSA.public.id}
        for stamp in (
            b"",
            jose.decode(signature.encode()),
            hmac.digest(public, body.encode(), hashlib.sha256),
        ):
            with pytest.raises(jose.JoseError):
                check(forged(forgery, CLAIMS, stamp))
    with pytest.raises(jose.JoseError):
        check(forged({"kid": RSA.public.id}, CLAIMS, b""))
    with pytest.raises(jose.JoseError):
        check(f"{header}.{body}.")


def test_the_public_key_is_no_secret_to_sign_with() -> None:
    """The oldest trick: a symmetric signature made with the public key."""
    pem = Path(__file__).read_bytes()  # stands for any text that an attacker knows
    head = jose.encode(json.dumps({"alg": "HS256", "kid": RSA.public.id}).encode())
    signed = f"{head}.{jose.encode(json.dumps(CLAIMS).encode())}"
    token = f"{signed}.{jose.encode(hmac.digest(pem, signed.encode(), 'sha256'))}"
    with pytest.raises(jose.JoseError):
        check(token)


def test_critical_headers_are_not_ignored() -> None:
    header = jose.encode(json.dumps({"alg": "ES256", "crit": ["b64"], "b64": False}).encode())
    signed = f"{header}.{jose.encode(json.dumps(CLAIMS).encode())}"
    signature = ECAlgorithm(ECAlgorithm.SHA256).sign(signed.encode(), KEYS["ES256"].key)  # type: ignore[arg-type]
    token = f"{signed}.{jose.encode(signature)}"
    with pytest.raises(jose.JoseError, match="critical"):
        check(token)


@pytest.mark.parametrize("size", [0, 63, 65, 96])
def test_signatures_of_another_length(size: int) -> None:
    with pytest.raises(jose.JoseError):
        check(forged({"alg": "ES256"}, CLAIMS, b"\x01" * size))


def test_files_of_keys(tmp_path: Path) -> None:
    pem = jose.new_private_key()
    (tmp_path / "sa.key").write_bytes(pem)
    (tmp_path / "sa.pub").write_bytes(jose.public_pem(pem))
    signer = jose.read_private_key(tmp_path / "sa.key")
    assert signer.public.algorithm == "ES256"
    ids = [jose.read_public_keys(tmp_path / name)[0].id for name in ("sa.key", "sa.pub")]
    assert ids == [signer.public.id] * 2
    pair = tls.create_authority("ca")
    (tmp_path / "many").write_bytes(b"a comment\n" + pair.certificate + jose.public_pem(pem) + pair.key)
    first, second, third = jose.read_public_keys(tmp_path / "many")
    assert first.id == third.id != second.id == signer.public.id


@pytest.mark.parametrize(
    "content", [b"", b"hello", b"-----BEGIN EC PARAMETERS-----\nAAAA\n-----END EC PARAMETERS-----\n"]
)
def test_files_without_keys(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "key").write_bytes(content)
    for read in (jose.read_private_key, jose.read_public_keys):
        with pytest.raises(ValueError, match="does not contain"):
            read(tmp_path / "key")


def test_keys_of_other_kinds(tmp_path: Path) -> None:
    key = ed25519.Ed25519PrivateKey.generate()
    (tmp_path / "key").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    with pytest.raises(ValueError, match="only RSA keys and ECDSA keys"):
        jose.read_private_key(tmp_path / "key")
    (tmp_path / "pub").write_bytes(
        key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    )
    with pytest.raises(ValueError, match="only RSA keys and ECDSA keys"):
        jose.read_public_keys(tmp_path / "pub")


@pytest.mark.parametrize("algorithm", KEYS)
def test_key_sets_name_the_numbers_of_a_key(algorithm: str) -> None:
    jwk = KEYS[algorithm].public.jwk
    assert jwk["use"] == "sig" and jwk["alg"] == algorithm and jwk["kid"] == KEYS[algorithm].public.id
    if algorithm == "RS256":
        assert int.from_bytes(jose.decode(jwk["e"].encode()), "big") == 65537
    else:
        sizes = {"ES256": 32, "ES384": 48, "ES512": 66}
        assert [len(jose.decode(jwk[axis].encode())) for axis in "xy"] == [sizes[algorithm]] * 2
