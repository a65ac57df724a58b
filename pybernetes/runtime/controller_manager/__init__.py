"""What a program with many controllers is made of: their descriptors, which of them run, and their identities."""
