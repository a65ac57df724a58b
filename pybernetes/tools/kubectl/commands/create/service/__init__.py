"""The commands of create service."""
