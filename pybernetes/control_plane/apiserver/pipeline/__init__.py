"""The way of a request: its steps from top to bottom, then the router that finds who answers."""
