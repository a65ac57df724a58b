"""The manager that runs the controllers: what describes them, who they are."""
