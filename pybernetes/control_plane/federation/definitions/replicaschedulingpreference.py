"""ReplicaSchedulingPreference: how replicas are spread over clusters."""

from __future__ import annotations

from pybernetes.control_plane.federation.kinds import REPLICA_SCHEDULING_PREFERENCES as RSP
from pybernetes.control_plane.federation.schemas import BOOLEAN, INTEGER, STRING, definition, map_, object_

_COUNT = {**INTEGER, "minimum": 0}
_PREFERENCES = object_({"minReplicas": _COUNT, "maxReplicas": _COUNT, "weight": _COUNT})
DEFINITION = definition(
    RSP.group, RSP.version, RSP.kind, RSP.plural,
    {
        "spec": object_(
            {
                "targetKind": STRING,
                "totalReplicas": {"type": "integer", "format": "int32", "minimum": 0},
                "rebalance": BOOLEAN,
                "intersectWithClusterSelector": BOOLEAN,
                "clusters": map_(_PREFERENCES),
            },
            "targetKind", "totalReplicas",
        ),
        "status": {"type": "object"},
    },
    short=("rsp",),
)  # fmt: skip
