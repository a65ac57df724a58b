"""The commands of certificate."""
