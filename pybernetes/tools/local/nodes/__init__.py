"""The nodes of a local cluster: single ones, groups of them, the machines that they are, and their images."""
