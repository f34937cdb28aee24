"""User modules come from their source, never from a .pyc.

Python takes a .pyc for current when the source's size and modification time (in whole
seconds) are the recorded ones: an edit that keeps both would run the old code.
"""

from __future__ import annotations

from importlib import _bootstrap_external
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def ignore_bytecode(is_user_file: Callable[[str], bool]) -> None:
    """Make every source loader compile user files afresh, and write no .pyc for them.

    The loaders ask `cache_from_source` where the .pyc is, and do without one where it
    raises NotImplementedError (as in a build of Python without a cache tag). Answering
    there covers `import`, `runpy` and `spec_from_file_location` alike; a path hook would
    miss the last, which is how single files are loaded.

    Args:
        is_user_file: whether a source path, as the import system spells it, is the user's.
    """
    cache_from_source = _bootstrap_external.cache_from_source

    def none_for_users(path: str, *args: Any, **options: Any) -> str:
        if is_user_file(path):
            raise NotImplementedError(f"{path}: a user's module has no .pyc")
        found: str = cache_from_source(path, *args, **options)
        return found

    _bootstrap_external.cache_from_source = none_for_users  # type: ignore[assignment]
