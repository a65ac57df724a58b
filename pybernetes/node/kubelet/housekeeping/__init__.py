"""What a node does besides running pods: rotates logs, and removes images, dead containers and orphaned pods."""
