"""Why: says in words why something is as it is: a pod that waits, a service that nobody answers, a refused request.

A file in ``kinds/`` answers for one kind; it says what has to be read, and decides about objects without I/O. ``access.py``
answers for requests that were refused. ``reading.py`` is the only part that talks to a server, and only reads.
"""
