"""What apply and its like need: the last applied configuration, three-way patches, pruning, overrides."""
