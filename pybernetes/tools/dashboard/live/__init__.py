"""What pages can follow over their WebSocket: one file for each, with a function ``RUN``, found by its name."""
