"""Admission: what may change or refuse a write after it is authorized and before it is stored.

``chain`` runs the plugins, which are in ``plugins``, one file each; ``order`` says in which order and which of
them are on unless told otherwise; ``select`` reads the flags and the configuration file.
"""
