"""Whether an object may refer to one in another namespace: only if a ReferenceGrant there says so."""

from __future__ import annotations

from collections.abc import Iterable

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway.kinds import GROUP


def permitted(
    grants: Iterable[Object], kind: str, namespace: str, to: tuple[str, str, str], group: str = GROUP
) -> bool:
    """Return whether grants of the other namespace let a kind of a namespace refer to a group, kind and name."""
    to_group, to_kind, to_name = to
    for grant in grants:
        spec = grant["spec"]
        if not any(
            (source["group"], source["kind"], source["namespace"]) == (group, kind, namespace)
            for source in spec["from"]
        ):
            continue
        for target in spec["to"]:
            if (target["group"], target["kind"]) == (to_group, to_kind) and target.get(
                "name", to_name
            ) == to_name:
                return True
    return False
