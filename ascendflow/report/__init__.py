"""Artifacts -> report: one JSON document, one HTML page, tables on the console."""
