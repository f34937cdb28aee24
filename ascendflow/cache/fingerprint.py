"""The fingerprint: everything that can change a stage's outputs, as data to print.

Not in it: paths, user, host, time, the layout of the YAML, and thresholds (but for the
gate). Adding an input means adding a field and raising SCHEMA.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ascendflow.cache import machine
from ascendflow.cache.digest import digest_document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ascendflow.documents.record import Fingerprint, Reads

SCHEMA = 1


def fingerprint(  # noqa: PLR0913 - one argument for each thing that counts
    *,
    stage: str,
    code: str,
    config: Mapping[str, Any],
    inputs: Mapping[str, str],
    tools: Mapping[str, str],
    environment: Mapping[str, str],
    floats: bool,
    seed: int,
) -> Fingerprint:
    """Put a stage's fingerprint together.

    Args:
        stage: its name.
        code: digest of its module and all it imports.
        config: its slice of the manifest, after defaults, as plain JSON data.
        inputs: role -> digest of the artifact or file.
        tools: distribution -> version, of those that can change the result.
        environment: the variables that reach the child and can change the result.
        floats: whether it computes floats, so that the CPU's ISA level counts.
        seed: what its random generators start from.
    """
    return {
        "schema": SCHEMA,
        "stage": stage,
        "code": code,
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "config": dict(config),
        "inputs": dict(inputs),
        "tools": dict(tools),
        "environment": dict(environment),
        "platform": machine.describe(floats=floats),
        "seed": seed,
    }


def base_of(preimage: Fingerprint) -> str:
    """Digest of what is known before a stage runs; records are found by it."""
    return digest_document(preimage)


def key_of(base: str, reads: Reads) -> str:
    """Key of one build: its base, and what user code read while it ran."""
    return digest_document({"base": base, "reads": reads})
