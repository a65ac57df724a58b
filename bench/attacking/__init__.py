"""What a client can do to a server that is meant to hurt others, one subject to a file.

``ATTACKS`` of a file has them by name: a function that gets an ``Attacked`` and does its worst once. It is called again
and again, by several at a time, while another client's requests are timed: see ``bench/attacks.py``.
"""
