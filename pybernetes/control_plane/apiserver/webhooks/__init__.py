"""Calls to programs that users registered: admission and conversion webhooks."""
