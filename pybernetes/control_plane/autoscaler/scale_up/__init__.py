"""More nodes: what groups could do for pods that have no room, what is chosen among it, and having it done."""
