"""JSON Web Tokens: signed, checked, or only read."""
