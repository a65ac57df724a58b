"""What the controllers of tokens share."""
