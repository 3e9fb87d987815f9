"""Talking to the API server: connection, watches, writes. Knows nothing of flags and of what is decided."""
