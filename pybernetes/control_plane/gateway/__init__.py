"""The gateway: Ingress and the Gateway API, carried out by an Envoy that is told what to do over xDS.

Objects become listeners and routes (``model.py``), those become Envoy's resources (``envoy/``), and those are pushed
(``xds/``). All of that is pure but the last; ``controller/`` joins it to the API server. ``docs/gateway.md`` has the picture.
"""
