"""StatefulSet: pods with names, places in an order and storage of their own."""

from pybernetes.control_plane.controllers._workload.describe import describe
from pybernetes.control_plane.controllers.statefulset.controller import StatefulSetController

CONTROLLER = describe(StatefulSetController, "statefulset", "statefulset")
