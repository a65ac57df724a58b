"""The commands of rollout."""
