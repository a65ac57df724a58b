"""Kinds of the policy group."""

GROUP = "policy"
