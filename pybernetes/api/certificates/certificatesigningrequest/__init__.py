"""The kind CertificateSigningRequest, and the certificate requests inside of it."""
