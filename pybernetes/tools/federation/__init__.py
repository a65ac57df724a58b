"""Tools for federations: kubefedctl, and a federation on one machine."""
