"""The JSON documents that ascendflow writes, as types; `schemas/` is made from them."""
