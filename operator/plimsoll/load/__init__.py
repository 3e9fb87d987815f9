"""What nodes carry: samples become readings, readings become an estimate per node and metric."""
