"""What makes the members match what the host says: one file per controller."""
