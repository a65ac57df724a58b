"""Everything about Pods: the kind itself, its defaults, validation, placement, resources and security standards."""
