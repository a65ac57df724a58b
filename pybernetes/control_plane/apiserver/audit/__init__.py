"""The audit log: who asked for what, when, and what became of it.

``policy`` decides how much is noted of a request, ``auditor`` follows requests through the server, ``event`` is what is
noted of one, ``backends`` are where the notes go.
"""
