"""Route: has the cloud make a way to the pods of each node."""
