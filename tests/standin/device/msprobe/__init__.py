"""Stands in for mindstudio-probe, as far as `compare -m offline_model` goes."""
