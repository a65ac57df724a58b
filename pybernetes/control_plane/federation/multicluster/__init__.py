"""Services of many clusters: what is exported in one is imported in all, as the multi-cluster services API has it."""
