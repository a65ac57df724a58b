"""The mode iptables: NAT by chains of rules.

``chains`` has the chains that all Services share, ``rules`` those of one ServicePort (both pure), ``iptables`` writes.
"""
