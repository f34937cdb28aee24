"""Stands in for ais_bench.infer; see `interface`."""
