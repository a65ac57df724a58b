"""What is fuzzed, one to a file with one ``TARGET``; found by its name."""
