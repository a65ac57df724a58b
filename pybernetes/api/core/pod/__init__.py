"""Everything about Pods.

The kind itself, its defaults, validation, placement, resources and security standards.
"""
