"""NodeRestriction: one file for each sort of object that a kubelet writes."""
