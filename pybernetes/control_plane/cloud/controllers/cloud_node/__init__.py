"""Cloud node: completes nodes with what the cloud knows of their instances."""
