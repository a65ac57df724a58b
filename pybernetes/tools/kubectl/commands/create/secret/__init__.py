"""The commands of create secret."""
