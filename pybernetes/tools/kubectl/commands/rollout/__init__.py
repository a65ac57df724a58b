"""rollout: follows, stops, resumes and undoes changes of workloads."""

from pybernetes.tools.kubectl.commands._group import run

__all__ = ["run"]
SUMMARY = "Manage the rollout of a resource"
USAGE = "rollout SUBCOMMAND"
GROUP = True
FLAGS = ()
