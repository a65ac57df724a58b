"""Building blocks that know nothing of Kubernetes; everything else may import them."""
