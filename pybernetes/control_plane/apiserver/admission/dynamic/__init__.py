"""Admission that users configure: webhooks and policies."""
