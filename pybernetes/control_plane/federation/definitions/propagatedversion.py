"""PropagatedVersion: which version of an object in a namespace every member was given."""

from __future__ import annotations

from pybernetes.control_plane.federation.definitions import _versions
from pybernetes.control_plane.federation.kinds import PROPAGATED_VERSIONS

DEFINITION = _versions.definition_of(PROPAGATED_VERSIONS)
