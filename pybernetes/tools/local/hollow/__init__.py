"""Nodes that only pretend: pods bound to them become ready, come to their end and obey deletion, and nothing runs.

What they do is data: ``stages.yaml`` for pods, ``node.yaml`` for the nodes themselves. ``stages`` and ``render`` read
it (pure), ``fate`` tells how a container would end, and ``agent`` talks to the API server.
"""
