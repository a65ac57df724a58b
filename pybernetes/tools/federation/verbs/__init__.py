"""The verbs of kubefedctl, one to a file: ``SUMMARY``, ``add_arguments`` and ``run``."""
