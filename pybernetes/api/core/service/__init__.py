"""The kind Service: its checks, its cluster IPs and the fields that depend on one another."""
