"""TLSRoute: where connections go by the name in their first message."""

from __future__ import annotations

from pybernetes.control_plane.gateway.definitions import _routes as routes
from pybernetes.control_plane.gateway.definitions import _schema as schema
from pybernetes.control_plane.gateway.definitions._schema import list_, object_, rule

_HOSTS = list_(
    schema.HOSTNAME, 1024, 1, rules=(rule("self.all(h, !isIP(h))", "Hostnames cannot contain an IP"),)
)
_RULE = object_({"name": schema.SECTION, "backendRefs": list_(schema.backend(), 16, 1)}, "backendRefs")
DEFINITION = routes.route(
    "TLSRoute", {"hostnames": _HOSTS, "rules": list_(_RULE, 1, 1)}, "hostnames", "rules", hosts=False
)
