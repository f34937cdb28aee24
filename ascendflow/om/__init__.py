"""OM files, which `atc` writes and devices load: what they say of themselves."""
