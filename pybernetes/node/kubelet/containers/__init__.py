"""What a container is made of: environment, files, logs."""
