"""What a node does besides running pods: turns logs over, removes images and containers that nobody needs."""
