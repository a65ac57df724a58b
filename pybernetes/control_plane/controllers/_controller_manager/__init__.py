"""The controller manager: descriptors of controllers, their registry, and their identities."""
