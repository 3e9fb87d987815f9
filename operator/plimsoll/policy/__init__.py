"""What users write: the SchedulingPolicy's models, its CRD, and what is compiled from it."""
