"""JSON Web Tokens of OpenID providers, which flags or a file name."""

from __future__ import annotations

from pybernetes.control_plane.apiserver.authn.authenticator import (
    Authenticator,
    AuthenticatorInputs,
    TokenAuthenticator,
)
from pybernetes.control_plane.apiserver.authn.jwt.setup import FLAGS


def tokens(inputs: AuthenticatorInputs) -> TokenAuthenticator | None:
    """Return what knows the tokens of the issuers that are believed."""
    if inputs.jwt is None:
        return None
    inputs.on_start.append(inputs.jwt.start)
    return inputs.jwt.find


AUTHENTICATOR = Authenticator(order=60, flags=FLAGS, for_tokens=tokens)
