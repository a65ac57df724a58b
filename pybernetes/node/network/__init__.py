"""The network of pods: ``cni`` writes the configuration that the runtime's plugins follow."""
