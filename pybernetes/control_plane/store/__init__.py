"""The store: keys, values, one growing revision, watches and compaction. Imports lib only."""
