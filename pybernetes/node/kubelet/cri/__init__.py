"""The container runtime's interface: ``client`` calls it, ``events`` follows what happens, ``read`` understands it."""
