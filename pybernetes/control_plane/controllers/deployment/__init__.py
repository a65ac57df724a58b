"""Deployment: rolls pods of a template out, a few at a time, and back."""
