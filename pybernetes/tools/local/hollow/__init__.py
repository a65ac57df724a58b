"""Hollow nodes: pods bound to them become ready, end and obey deletion, and nothing runs.

What they do is data: ``stages.yaml`` for pods, ``node.yaml`` for the nodes themselves. ``stages`` and ``render`` read
it (pure), ``stage_inputs`` has the values that stages use, ``container_exit`` and ``shell`` tell how a container would
end, ``pods`` and ``nodes`` talk to the API server, ``hollow_kubelet`` runs both.
"""
