"""ServiceExport: the Service of the same name is for all clusters."""

from __future__ import annotations

from pybernetes.control_plane.federation.multicluster.definitions._versions import (
    CONDITIONS,
    STRINGS,
    definition_of,
)
from pybernetes.control_plane.federation.multicluster.kinds import SERVICE_EXPORTS
from pybernetes.control_plane.federation.schemas import object_

DEFINITION = definition_of(
    SERVICE_EXPORTS,
    {
        "spec": object_({"exportedLabels": STRINGS, "exportedAnnotations": STRINGS}),
        "status": object_({"conditions": CONDITIONS}),
    },
    ("svcex", "svcexport"),
    (),
)
