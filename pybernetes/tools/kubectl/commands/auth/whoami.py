"""auth whoami."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.describe._writer import shown
from pybernetes.tools.kubectl.errors import ApiError, CommandError, not_found
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.output.table import columns

if TYPE_CHECKING:
    from pybernetes.api.resource import Object

SUMMARY = "Experimental: Check self subject attributes"
USAGE = "auth whoami"
FLAGS = (shared_flags.PRINT,)


def _asked(context: Context) -> Object:
    """Return what the server says, in the newest version that it has."""
    for version in ("v1", "v1beta1", "v1alpha1"):
        group = f"authentication.k8s.io/{version}"
        body = {
            "kind": "SelfSubjectReview",
            "apiVersion": group,
            "metadata": {},
            "status": {"userInfo": {}},
        }
        try:
            return context.client.json("POST", f"/apis/{group}/selfsubjectreviews", body)
        except ApiError as error:
            if not not_found(error):
                raise
    raise CommandError("the selfsubjectreviews API is not enabled in the cluster")


def run(context: Context) -> None:
    """Print the user whom the server sees."""
    show = printers.make(context, typed=True) if context.flags.output else None
    answer = _asked(context)
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
