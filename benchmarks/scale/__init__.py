"""What a large cluster costs: memory, events, refreshes of a policy, and rest."""
