"""The commands of plugin."""
