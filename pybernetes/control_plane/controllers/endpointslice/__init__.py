"""EndpointSlice: the endpoints of a service in slices."""
