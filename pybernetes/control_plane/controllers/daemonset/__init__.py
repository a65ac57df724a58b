"""DaemonSet: one pod on every node that will have it."""

from pybernetes.control_plane.controllers._workload.describe import describe
from pybernetes.control_plane.controllers.daemonset.controller import DaemonSetController

CONTROLLER = describe(
    DaemonSetController, "daemonset", "daemonset", identity="daemon-set-controller", count=2
)
