"""What holds for every block of the manifest."""

from __future__ import annotations

from pydantic import ConfigDict, Field

STRICT = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)
"""Unknown keys are forbidden, and types strict: `"5"` is no number.

Few blocks are validated by themselves, so few need a validator beside the manifest's.
"""

# YAML has lists only; frozen models hold tuples, which strict mode would not make of them.
FromList = Field(strict=False)
