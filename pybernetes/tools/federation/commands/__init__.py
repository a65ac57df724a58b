"""The verbs of ``pyb federation``, one to a file: ``SUMMARY``, ``add_arguments`` and ``run``."""
