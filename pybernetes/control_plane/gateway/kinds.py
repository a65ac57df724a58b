"""The kinds that the gateway reads, and the names that it is known by."""

from __future__ import annotations

from pybernetes.client.refs import Ref

GROUP = "gateway.networking.k8s.io"
# What a GatewayClass or an IngressClass has as its controller to be ours.
CONTROLLER = "pybernetes.io/gateway"
NAMESPACE = "pybernetes-gateway"  # where the services are that give Gateways their addresses

GATEWAY_CLASSES = Ref(GROUP, "v1", "gatewayclasses", "GatewayClass", False)
GATEWAYS = Ref(GROUP, "v1", "gateways", "Gateway")
HTTP_ROUTES = Ref(GROUP, "v1", "httproutes", "HTTPRoute")
GRPC_ROUTES = Ref(GROUP, "v1", "grpcroutes", "GRPCRoute")
TLS_ROUTES = Ref(GROUP, "v1", "tlsroutes", "TLSRoute")
REFERENCE_GRANTS = Ref(GROUP, "v1beta1", "referencegrants", "ReferenceGrant")
ROUTES = (HTTP_ROUTES, GRPC_ROUTES, TLS_ROUTES)
