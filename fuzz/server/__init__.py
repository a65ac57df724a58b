"""A running API server under attack: requests that are nearly right, many at once, beside a client that is timed."""
