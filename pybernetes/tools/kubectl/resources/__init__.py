"""What a command line means: resource types, manifests, objects, pods, selectors, quantities."""
