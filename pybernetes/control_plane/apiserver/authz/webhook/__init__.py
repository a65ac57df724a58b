"""The webhook mode: another server says what a user may, if match conditions send the question there."""
