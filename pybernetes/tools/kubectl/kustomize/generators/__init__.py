"""The built-in generators, one to a file: ``Generator(config, plugin).generate()``."""
