"""Content addressing: digests, keys, records and the store. Knows no stage and no doit."""
