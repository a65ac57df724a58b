"""One file for each command; a folder is a command with commands of its own. ``command_line.lookup`` says what a file has."""
