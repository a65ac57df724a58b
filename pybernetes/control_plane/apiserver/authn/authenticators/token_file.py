"""Static tokens: a file of ``token,user,uid,"group1,group2"`` lines."""

from __future__ import annotations

import csv
from pathlib import Path

from pybernetes.control_plane.apiserver.authn.authenticator import (
    Audiences,
    AuthenticatedToken,
    Authenticator,
    AuthenticatorInputs,
    TokenAuthenticator,
    meant_for,
)
from pybernetes.control_plane.apiserver.authn.user import User, authenticated
from pybernetes.lib.flags import Flag

FLAGS = (Flag("token-auth-file", "", "file of static tokens: token,user,uid,groups"),)


def read(path: Path) -> dict[bytes, User]:
    """Return the users of a file, by their tokens; ValueError names the line that makes no sense."""
    users: dict[bytes, User] = {}
    with path.open(newline="") as file:
        for number, row in enumerate(csv.reader(file, skipinitialspace=True), 1):
            if not row or not "".join(row).strip():
                continue
            if len(row) < 3 or not row[0]:
                raise ValueError(f"{path}: line {number}: expected token,user,uid[,groups]")
            names = row[3].split(",") if len(row) > 3 else ()
            groups = [name.strip() for name in names if name.strip()]
            users[row[0].encode()] = authenticated(row[1], row[2], groups)
    return users


def tokens(inputs: AuthenticatorInputs) -> TokenAuthenticator | None:
    """Return what knows the tokens of ``--token-auth-file``."""
    if not inputs.arguments.token_auth_file:
        return None
    known = {
        token: AuthenticatedToken(user, inputs.audiences, holds=lambda: True)
        for token, user in read(Path(inputs.arguments.token_auth_file)).items()
    }

    def find(token: bytes, audiences: Audiences) -> AuthenticatedToken | None:
        entry = known.get(token)
        if entry is None or audiences is inputs.audiences:
            return entry
        meant = meant_for(audiences, inputs.audiences)
        return entry._replace(audiences=meant) if meant else None

    return find


AUTHENTICATOR = Authenticator(order=30, flags=FLAGS, for_tokens=tokens)
