"""Versions that are served beside the one that is stored: an API server may have stored these."""

from __future__ import annotations

from pybernetes.api.autoscaling import _conversion
from pybernetes.api.core import _events
from pybernetes.api.older_versions._older_version import OlderVersion, Table

_EVENT = OlderVersion("v1", _events.to_core, "io.k8s.api.events.v1.Event")

OLDER: Table = {
    ("autoscaling/v1", "HorizontalPodAutoscaler"): OlderVersion("autoscaling/v2", _conversion.to_v2),
    ("events.k8s.io/v1", "Event"): _EVENT,
    ("events.k8s.io/v1beta1", "Event"): _EVENT,
}
