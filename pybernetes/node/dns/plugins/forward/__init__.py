"""Asking of other servers: what the lines say, one server, and the choice among them."""
