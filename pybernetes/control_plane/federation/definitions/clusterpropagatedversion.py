"""ClusterPropagatedVersion: which version of an object without a namespace every member was given."""

from __future__ import annotations

from pybernetes.control_plane.federation.definitions import _versions
from pybernetes.control_plane.federation.kinds import CLUSTER_PROPAGATED_VERSIONS

DEFINITION = _versions.definition_of(CLUSTER_PROPAGATED_VERSIONS)
