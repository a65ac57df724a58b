"""What decisions are made from: nodes, pods and groups as they are, and as they would be."""
