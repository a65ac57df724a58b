"""The connection to the API server: HTTP over a socket, calls, streams to pods; made to start fast."""
