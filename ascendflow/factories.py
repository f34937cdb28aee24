"""The user's own Python: finding a factory, and saying whose fault it was.

Everything the manifest names by `module` and `factory` goes through here: models,
samples and metrics.
"""

from __future__ import annotations

import sys
import sysconfig
import traceback
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendflow.errors import AscendflowError, StageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

_OWN_PACKAGE = Path(__file__).parent
_LIBRARIES = ("stdlib", "platstdlib")
_INSTALLED = {"site-packages", "dist-packages"}


def load_factory(folder: Path, module: str, factory: str) -> Callable[..., Any]:
    """Import a user's module and take one function or class from it.

    Args:
        folder: the model's pipeline folder.
        module: path of a `.py` file relative to `folder`, as the manifest spells it.
        factory: name of a callable in that module.

    Raises:
        StageError: there is no such file, importing it raises, or it defines no such
            callable; then the message lists what it does define.
    """
    loaded = load_module(folder, module)
    found = getattr(loaded, factory, None)
    if callable(found):
        return found  # type: ignore[no-any-return]
    raise StageError(
        f"{module} defines no callable {factory!r}", hint=_what_it_defines(loaded)
    )


def load_module(folder: Path, module: str) -> ModuleType:
    """Import a user's module.

    It is imported once per process, under its own name, with its folder on `sys.path`, so
    that what it imports from beside itself is found too.

    Args:
        folder: the model's pipeline folder.
        module: path of a `.py` file relative to `folder`, as the manifest spells it.

    Raises:
        StageError: there is no such file, or importing it raises.
    """
    path = folder / module
    if not path.is_file():
        others = ", ".join(sorted(p.name for p in folder.glob("*.py"))) or "none"
        raise StageError(
            f"{module}: no such file in the model's folder",
            hint=f"the Python files there are: {others}",
        )
    with users_code(module, "on import"):
        return _import(path)


@contextmanager
def users_code(
    what: str, during: str = "", hint: str | None = None, keys: tuple[str | int, ...] = ()
) -> Iterator[None]:
    """Turn what a user's code raises into a StageError that says where it came from.

    Args:
        what: what ran, e.g. "data.py:test_samples"; said where no line of the user's own
            is to be found, e.g. because it was called with wrong arguments.
        during: on what occasion, e.g. "on the torch outputs".
        hint: what to do about it, where the occasion says.
        keys: the way to what the manifest says of it.

    Raises:
        StageError: the block raised; the traceback goes to standard error, which is the
            stage's log.
    """
    try:
        yield
    except AscendflowError:
        raise
    except (Exception, SystemExit) as error:
        traceback.print_exc()
        where = ", ".join(filter(None, (users_line(error) or what, during)))
        raise StageError(f"{where}: {said(error)}", hint=hint, keys=keys) from error


def said(error: BaseException) -> str:
    """Return type and text of an exception, whatever its text does when it is read."""
    kind = type(error).__name__
    try:
        text = str(error)
    except Exception as fault:  # noqa: BLE001  a user's __str__ may raise anything
        return f"{kind}, whose text cannot be read: {type(fault).__name__}"
    if isinstance(error, SystemExit):
        return f"sys.exit({text}) would end the stage; raise an exception instead"
    return f"{kind}: {text}"


def users_line(error: BaseException) -> str | None:
    """Name the innermost line of the user's that `error` passed: "net.py:7 (forward)"."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if (file := users_file(frame.filename)) is not None:
            name = "" if frame.name == "<module>" else f" ({frame.name})"
            return f"{file}:{frame.lineno}{name}"
    return None


def users_file(file: str) -> str | None:
    """Return a source file as its importer names it, or None if it is not the user's."""
    path = Path(file)
    libraries = (_OWN_PACKAGE, *(Path(sysconfig.get_path(n)) for n in _LIBRARIES))
    if not path.is_absolute() or any(path.is_relative_to(each) for each in libraries):
        return None
    if _INSTALLED.intersection(path.parts):
        return None
    parents = (Path(entry) for entry in sys.path if entry)
    inside = (path.relative_to(each) for each in parents if path.is_relative_to(each))
    return min((each.as_posix() for each in inside), key=len, default=path.name)


def _import(path: Path) -> ModuleType:
    """Import the file `path` under its stem, once."""
    name = path.stem
    known = sys.modules.get(name)
    if known is not None and getattr(known, "__file__", None) == str(path):
        return known
    if known is not None or name in sys.stdlib_module_names:
        raise StageError(
            f"{path.name}: another Python module is called {name!r} too",
            hint="rename the file, and the module in the manifest",
        )
    parent = str(path.parent)
    if parent not in sys.path:
        sys.path.insert(0, parent)
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise StageError(f"{path.name} is not a Python file", hint="name a .py file")
    module = module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pytree registration look it up there
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _what_it_defines(module: ModuleType) -> str:
    """Name the public callables that the module itself defines, for a hint."""
    own = [
        name
        for name, value in vars(module).items()
        if callable(value)
        and not name.startswith("_")
        and getattr(value, "__module__", None) == module.__name__
    ]
    return f"it defines: {', '.join(own)}" if own else "it defines no public callable"
