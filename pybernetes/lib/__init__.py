"""Building blocks that know nothing of Kubernetes; everything else may import them."""

TYPE_CHECKING = False  # in the place of typing's, which programs that start often would wait for
