"""Authentication: who sends a request. Each authenticator is a file; the first that knows the client decides."""
