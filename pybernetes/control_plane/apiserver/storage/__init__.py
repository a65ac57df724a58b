"""The life of a stored object: kinds, writes, update rules, deletion, resource versions."""
