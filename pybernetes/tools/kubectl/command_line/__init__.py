"""The command line: finding the command, flags, help and completion."""
