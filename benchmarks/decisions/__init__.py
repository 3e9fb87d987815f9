"""What one decision costs: the core alone, in one process, without an API server."""
