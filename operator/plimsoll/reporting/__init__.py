"""What people read, as values: fit sentences, events, conditions, statuses, annotations, explanations."""
