"""Which node needs which object: the graph that the Node authorizer asks."""
