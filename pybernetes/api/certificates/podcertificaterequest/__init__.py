"""The kind PodCertificateRequest: the key that it is for, and how its status may change."""
