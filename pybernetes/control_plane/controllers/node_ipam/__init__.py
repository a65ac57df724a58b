"""Node IPAM: every node gets ranges of pod addresses."""
