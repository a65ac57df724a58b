"""A client of gRPC over one HTTP/2 connection of the event loop."""
