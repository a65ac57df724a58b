"""The life of a stored object.

``kind`` knows keys and bytes, ``kinds`` what is served; ``create``, ``update`` and ``deletion`` are the ways of a write, and
``ensure`` and ``own_status`` those of the server's own; ``modify`` is the one place that writes to the store.
"""
