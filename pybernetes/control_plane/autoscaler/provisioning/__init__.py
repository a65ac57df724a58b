"""ProvisioningRequests: capacity that is asked for before its pods are there."""
