"""Certificates and TLS: contexts and authorities, servers that follow their files, whom a certificate names."""
