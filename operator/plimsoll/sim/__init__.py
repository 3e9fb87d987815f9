"""Offline replay of real load: the same worlds for every contender, the product's own code for ours."""
