"""Images of containers and of volumes: pulled when they are needed, with the credentials of pull secrets."""
