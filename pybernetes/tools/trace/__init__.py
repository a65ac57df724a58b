"""Trace: where the time went between the request for a pod and its running, step by step.

``timeline.py`` makes a ``Trace`` of objects and is pure; ``reading.py`` reads what it needs, once or while it happens;
``picture.py`` draws it for a terminal.
"""
