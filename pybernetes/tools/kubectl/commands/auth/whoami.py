"""auth whoami."""

from __future__ import annotations

from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.describe._writer import shown
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.output.table import columns

SUMMARY = "Experimental: Check self subject attributes"
USAGE = "auth whoami"
FLAGS = (shared_flags.PRINT,)


def run(context: Context) -> None:
    """Print the user whom the server sees."""
    show = printers.make(context, typed=True) if context.flags.output else None
    body = {
        "kind": "SelfSubjectReview",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {},
        "status": {"userInfo": {}},
    }
    answer = context.client.json("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", body)
    if show is not None:
        show(answer)
        return
    user = (answer.get("status") or {}).get("userInfo") or {}
    rows = [["ATTRIBUTE", "VALUE"]]
    for title, key in (("Username", "username"), ("UID", "uid"), ("Groups", "groups")):
        if user.get(key):
            rows.append([title, shown(user[key])])
    for key, values in sorted((user.get("extra") or {}).items()):
        rows.append([f"Extra: {key}", shown(values)])
    context.stdout.write(columns(rows))
