"""Job: pods that are to come to an end."""

from pybernetes.control_plane.controllers._workload.describe import describe
from pybernetes.control_plane.controllers.job.controller import JobController

CONTROLLER = describe(JobController, "job", "job")
