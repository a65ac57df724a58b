"""One file per scheduler plugin, each with ``PLUGIN``: upstream's names, points, defaults and messages."""
