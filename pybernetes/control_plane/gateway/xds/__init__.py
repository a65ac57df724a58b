"""Envoy is told what to do: the aggregated discovery service, in its incremental form, on a socket of its own."""
