"""The control plane: store, API server, scheduler, controllers."""
