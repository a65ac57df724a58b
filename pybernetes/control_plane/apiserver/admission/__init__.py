"""Admission: what may change or refuse a write after it is authorized and before it is stored.

``chain`` runs the plugins, one file each.
"""
