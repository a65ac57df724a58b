"""create poddisruptionbudget."""

from __future__ import annotations

import re

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.create._generator import COMMON, generator, int_or_text, metadata
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.resources.label_selector import parse_selector

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Create a pod disruption budget with the specified name"
USAGE = "create poddisruptionbudget NAME --selector=SELECTOR --min-available=N [--dry-run=server|client|none]"
ALIASES = ("pdb",)
FLAGS = (*COMMON, """
- max-unavailable string | how many pods, or what part, may be unavailable
- min-available string | how many pods, or what part, must be available
- selector string | labels of the pods
""")  # fmt: skip
_SHARE = re.compile(r"^[0-9]+%?$")


def make(context: Context, name: str) -> Object:
    """Return a PodDisruptionBudget."""
    flags = context.flags
    if not flags.selector:
        raise CommandError("a selector must be specified")
    if not flags.max_unavailable and not flags.min_available:
        raise CommandError("one of min-available or max-unavailable must be specified")
    if flags.max_unavailable and flags.min_available:
        raise CommandError("min-available and max-unavailable cannot be both specified")
    spec: Object = {}
    for flag, key in (("min_available", "minAvailable"), ("max_unavailable", "maxUnavailable")):
        value = getattr(flags, flag)
        if value:
            if not _SHARE.match(value):
                raise CommandError(f"invalid format specified for {flag.replace('_', '-')}")
            spec[key] = int_or_text(value)
    selector = parse_selector(flags.selector)
    if "minAvailable" in spec:
        spec = {"minAvailable": spec["minAvailable"], "selector": selector}
    else:
        spec = {"selector": selector, "maxUnavailable": spec["maxUnavailable"]}
    status = {"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0}
    return {
        "kind": "PodDisruptionBudget",
        "apiVersion": "policy/v1",
        "metadata": metadata(context, name),
        "spec": spec,
        "status": status,
    }


run = generator(make, "failed to create poddisruptionbudgets: ")
