"""The built-in transformers, one to a file: ``Transformer(config, plugin).transform(resources)``."""
