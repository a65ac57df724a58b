"""apply --server-side: the server merges."""

from __future__ import annotations

from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import ApiError, CommandError
from pybernetes.tools.kubectl.resources.info import Info

_CONFLICT = """
Please review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
  command with the `--force-conflicts` flag.
* If you do not intend to manage all of the fields, please edit your
  manifest to remove references to the fields that should keep their
  current managers.
* You may co-own fields by updating your manifest to match the existing
  value; in this case, you'll become the manager if the other manager(s)
  stop managing the field (remove it from their configuration).
See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts"""


def server_side(context: Context, info: Info) -> str:
    """Send the object for the server to apply."""
    flags = context.flags
    query = {**context.write_query(), "force": "true" if flags.force_conflicts else "false"}
    wanted = info.object
    try:
        info.object = context.client.patch(
            info.resource,
            info.namespace,
            info.name,
            info.object,
            "apply",
            query=query,
            subresource=flags.subresource,
        )
    except ApiError as error:
        if error.reason == "Conflict":
            raise CommandError(error.message + _CONFLICT) from None
        raise
    if not flags.subresource:
        from pybernetes.tools.kubectl.apply.field_migration import migrate

        migrate(context, info, wanted, query)
    warn_if_deleting(context, info)
    return "serverside-applied"


def warn_if_deleting(context: Context, info: Info) -> None:
    """Warn about an object that was applied and is being deleted."""
    if (info.object.get("metadata") or {}).get("deletionTimestamp"):
        context.warn(f"Warning: Detected changes to resource {info.name} which is currently being deleted.")
