"""Stands in for ais_bench; see `infer.interface`."""
