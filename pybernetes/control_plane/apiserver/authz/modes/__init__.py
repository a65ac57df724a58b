"""The modes of ``--authorization-mode``: one file each, with a ``MODE`` that names it, declares its flags and makes its authorizer."""
