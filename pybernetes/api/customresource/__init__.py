"""Custom resources: what a CustomResourceDefinition's schema means for the objects of its kind.

``types`` gives the type that managed fields and apply work with, ``prune`` and ``defaults`` make an object fit
its schema, ``validate`` (with ``listtypes``, ``embedded`` and ``formats``) says what is wrong with it, ``columns``
prints it, ``names`` decides which names a definition gets, and ``kind`` puts all of it into a ``Resource``.
"""
