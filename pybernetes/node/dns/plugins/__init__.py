"""The plugins that a Corefile may name, one to a file; the order among them is in chain.py."""
