"""Kinds of the autoscaling group."""

GROUP = "autoscaling"
