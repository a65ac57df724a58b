"""Counters and histograms, and the forms in which they are written."""
