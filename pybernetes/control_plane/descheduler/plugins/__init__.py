"""One file per plugin, with upstream's name, arguments and messages."""
