"""The sections of the benchmark, a file each: ``CHECKS`` is what it recommends."""
