"""What the benchmarks share: connections, load, watchers, results."""
