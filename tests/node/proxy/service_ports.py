"""A ServicePort with two targets, and the settings that its rules are made with."""

from __future__ import annotations

from pybernetes.node.proxy.backend import Settings
from pybernetes.node.proxy.endpoint import Target
from pybernetes.node.proxy.local_traffic import LocalTraffic
from pybernetes.node.proxy.node import Node
from pybernetes.node.proxy.service_port import ServicePort

NODE = Node("here", addresses=("172.30.0.2",))
SETTINGS = Settings(NODE, LocalTraffic(ranges=("10.244.0.0/16",)))
A, B = Target("10.244.0.2", 8080, True), Target("10.244.1.3", 8080)
SERVICE_PORT = ServicePort("default/web", "http", "tcp", 4, "10.96.0.10", 80, cluster=(A, B), exists=True)
