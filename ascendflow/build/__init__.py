"""One stage: key -> restore or execute -> verify -> publish -> record. Knows no doit."""
