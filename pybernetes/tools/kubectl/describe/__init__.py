"""Objects in words: a file for each kind, named like the kind; ``describer`` finds it."""
