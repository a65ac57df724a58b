"""The providers of ``EncryptionConfiguration``: one file or folder each, with a ``PROVIDER``."""
