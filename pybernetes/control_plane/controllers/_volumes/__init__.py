"""What the controllers of volumes and claims share."""
