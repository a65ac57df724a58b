"""The audit log: who asked for what, when, and what became of it.

``policy`` decides how much is noted of a request, ``trail`` collects it, ``event`` is its form, ``auditor`` sends it to
the ``backends``. The step of a request is ``pipeline/steps/audit.py``.
"""
