"""The mode ipvs: virtual servers of the kernel, whose addresses are on a link of their own.

``virtual_servers``, ``sets``, ``rules`` and ``ending`` decide; ``kernel`` and ``ipvs`` do it.
"""
