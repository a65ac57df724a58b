"""Where audit events go: a file, or a server."""
