"""CronJob: makes jobs at the times that a schedule names."""

from pybernetes.control_plane.controllers._workload.describe import describe
from pybernetes.control_plane.controllers.cronjob.controller import CronJobController

CONTROLLER = describe(CronJobController, "cronjob", "cron-job")
