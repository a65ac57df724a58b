"""Kinds of the batch group: pods that run to an end."""

GROUP = "batch"
