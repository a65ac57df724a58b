"""One small entry file per program."""
