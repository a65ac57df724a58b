"""Gives claims of the default storage class folders on local disk.

``plan`` decides (pure), ``provisioner`` makes folders and volumes, ``volume_remover`` removes them.

Layers: imports ``lib``, ``api``, ``client`` and ``runtime`` only. ``docs/storage-provisioner.md`` is the guide.
"""
