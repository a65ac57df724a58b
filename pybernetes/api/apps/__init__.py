"""Kinds of the apps group: controllers that keep sets of pods."""

GROUP = "apps"
