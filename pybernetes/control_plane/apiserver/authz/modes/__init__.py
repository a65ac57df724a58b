"""The modes of ``--authorization-mode``: one file each, with a class ``Mode``."""
