"""What is reported about a pod: computed by pure functions, and written to the API server by ``status_manager``."""
