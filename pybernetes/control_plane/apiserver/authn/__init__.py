"""Who is asking. One file per way of proving it; the first that recognizes the request wins."""
