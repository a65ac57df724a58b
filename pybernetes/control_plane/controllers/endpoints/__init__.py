"""Endpoints: one object per service with all of its addresses, the older form."""
