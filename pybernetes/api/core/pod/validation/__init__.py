"""Checks of Pods, one file per topic; ``spec`` checks a whole PodSpec, which the templates of workloads have too."""
