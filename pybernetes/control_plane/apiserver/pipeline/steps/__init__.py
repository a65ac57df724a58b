"""The steps of a request, one file each; ``pipeline.py`` has them in their order.

A step gets what follows it and gives a handler that does its own part and calls what follows. Whatever it opens, an
audit event or a seat, it closes when the answer comes back.
"""
