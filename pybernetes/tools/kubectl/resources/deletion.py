"""Deletes objects as the flags of a command ask for it."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from typing import Any


_POLICIES = {
    "background": "Background", "orphan": "Orphan", "foreground": "Foreground", "true": "Background", "false": "Orphan",
}  # fmt: skip


def propagation_policy(text: str) -> str:
    """Return the deletion policy that --cascade means."""
    if text not in _POLICIES:
        raise CommandError(f'invalid cascade value ({text}). Must be "background", "foreground", or "orphan"')
    return _POLICIES[text]


def chosen_policy(context: Context) -> str:
    """Return the deletion policy of the command line, and tell those who still use a boolean."""
    text = context.flags.cascade
    policy = propagation_policy(text)
    if text in ("true", "false"):
        context.warn(
            f"warning: --cascade={text} is deprecated (boolean value) and can be replaced with "
            f"--cascade={policy.lower()}."
        )
    return policy


def delete_object(context: Context, info: Info, grace: int, policy: str) -> str:
    """Delete an object and return its UID."""
    options: dict[str, Any] = {"propagationPolicy": policy}
    if grace >= 0:
        options["gracePeriodSeconds"] = grace
    if context.flags.has("dry-run") and context.flags.dry_run == "server":
        options["dryRun"] = ["All"]
    answer = context.client.delete(info.resource, info.namespace, info.name, options)
    if answer.get("kind") == "Status":
        return (answer.get("details") or {}).get("uid") or ""
    return (answer.get("metadata") or {}).get("uid") or ""
