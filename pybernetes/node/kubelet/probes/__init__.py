"""Probes of containers: ``handlers`` probes once, ``probe_manager`` keeps probing and remembers the results."""
