"""Versions of built-in kinds that are not stored here but may be in a store: what another API server left there.

Every file names the versions of its kind in ``OLDER``; ``pybernetes.api.stored_versions`` finds them.
"""
