"""Static tokens: a file of ``token,user,uid,"group1,group2"`` lines."""

from __future__ import annotations

import csv
from pathlib import Path

from pybernetes.control_plane.apiserver.authn.user import AUTHENTICATED, User
from pybernetes.control_plane.apiserver.http.messages import Request


class TokenFile:
    """The tokens of ``--token-auth-file``."""

    def __init__(self, path: Path) -> None:
        self._users: dict[bytes, User] = {}
        with path.open(newline="") as file:
            for number, row in enumerate(csv.reader(file, skipinitialspace=True), 1):
                if not row or not "".join(row).strip():
                    continue
                if len(row) < 3:
                    raise ValueError(f"{path}: line {number}: expected token,user,uid[,groups]")
                groups = (
                    tuple(group.strip() for group in row[3].split(",") if group.strip())
                    if len(row) > 3
                    else ()
                )
                self._users[row[0].encode()] = User(row[1], row[2], (*groups, AUTHENTICATED))

    def authenticate(self, request: Request) -> User | None:
        """The user of the request's bearer token, if the file has it."""
        header = request.headers.get(b"authorization", b"")
        scheme, _, token = header.partition(b" ")
        return self._users.get(token.strip()) if scheme.lower() == b"bearer" else None
