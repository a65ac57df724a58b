"""What stands in front of several API servers: HAProxy in one of two forms, and a virtual address that keepalived moves."""
