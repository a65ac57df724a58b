"""The kind ServiceAccount, and the TokenRequest that is its ``token`` subresource."""
