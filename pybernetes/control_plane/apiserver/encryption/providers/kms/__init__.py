"""KMS v2: the key that encrypts the keys stays with a plug-in, which is asked over a Unix socket."""
