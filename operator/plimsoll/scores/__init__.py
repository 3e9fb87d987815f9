"""Terms of the score: each a cost of 0..1 over nodes, lower is better."""
