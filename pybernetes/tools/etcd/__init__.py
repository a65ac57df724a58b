"""The commands of ``pyb etcd``, a file each; ``_connection`` and ``_printing`` are what they share."""
