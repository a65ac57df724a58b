"""What the controllers of certificates share."""
