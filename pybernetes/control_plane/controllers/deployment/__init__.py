"""Deployment: rolls pods of a template out, a few at a time, and back."""

from pybernetes.control_plane.controllers._workload.describe import describe
from pybernetes.control_plane.controllers.deployment.controller import DeploymentController

CONTROLLER = describe(DeploymentController, "deployment", "deployment")
