"""Control groups of pods, and requests and limits in the units of control groups."""
