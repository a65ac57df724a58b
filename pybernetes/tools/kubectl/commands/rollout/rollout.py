"""rollout: follows, stops, resumes and undoes changes of workloads."""

from pybernetes.tools.kubectl.commands._group import group

SUMMARY = "Manage the rollout of a resource"
USAGE = "rollout SUBCOMMAND"
FLAGS = ()
run = group(to_stdout=True)
