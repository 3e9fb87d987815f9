"""What the cluster looks like: objects parsed once, the cache, and arrays over nodes."""
