"""What commands work on: discovery, manifests, selectors."""
