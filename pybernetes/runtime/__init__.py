"""How every loop runs: informers, queues, controllers, leader election, events.

Layers: imports ``lib``, ``api`` and ``client`` only. ``docs/runtime.md`` is the guide.
"""

from pybernetes.runtime.cache import (
    Cache,
    by_controller,
    by_labels,
    by_namespace,
    by_owner,
    key_of,
    split_key,
)
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.election import Election, Elector, LostLease
from pybernetes.runtime.events import Recorder, SeriesRecorder
from pybernetes.runtime.informer import Informer
from pybernetes.runtime.informers import Informers
from pybernetes.runtime.manager import Manager
from pybernetes.runtime.metrics import Metrics
from pybernetes.runtime.queue import Queue
from pybernetes.runtime.runtime import Runtime

__all__ = [
    "Cache",
    "Controller",
    "Election",
    "Elector",
    "Informer",
    "Informers",
    "LostLease",
    "Manager",
    "Metrics",
    "Queue",
    "Recorder",
    "Runtime",
    "SeriesRecorder",
    "by_controller",
    "by_labels",
    "by_namespace",
    "by_owner",
    "key_of",
    "split_key",
]
