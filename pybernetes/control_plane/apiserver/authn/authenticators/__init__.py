"""The authenticators: one file each, with an ``AUTHENTICATOR`` that declares its place and its flags."""
