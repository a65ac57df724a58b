"""A Corefile that answers for the services of a set of clusters, too. Pure."""

from __future__ import annotations

import re

from pybernetes.tools.federation.errors import FederationError

ZONE = "clusterset.local"
_DIRECTIVE = re.compile(r"^(?P<indent>[ \t]*)kubernetes(?P<zones>(?:[ \t]+[^\s{}]+)+)[ \t]*(?P<block>\{)?[ \t]*$", re.MULTILINE)  # fmt: skip


def with_cluster_set(text: str) -> str:
    """Return a Corefile whose plugin for the cluster answers for the set's zone; FederationError if it has none."""
    if re.search(rf"^[ \t]*multicluster\b.*\b{re.escape(ZONE)}\b", text, re.MULTILINE):
        return text
    directive = _DIRECTIVE.search(text)
    if directive is None:
        raise FederationError(
            "the Corefile has no plugin `kubernetes` with a zone, to which this could be added"
        )
    indent, zones = directive["indent"], directive["zones"].split()
    inner = f"{indent}   multicluster {ZONE}"
    opened = f"{indent}kubernetes {zones[0]} {' '.join([ZONE, *zones[1:]])} {{\n{inner}"
    if not directive["block"]:
        opened += f"\n{indent}}}"
    return text[: directive.start()] + opened + text[directive.end() :]
