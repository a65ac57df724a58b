"""Probes of containers: ``handlers`` asks once, ``manager`` keeps asking and remembers."""
