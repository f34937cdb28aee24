"""What counts in a Python source file: its statements and the modules it imports.

Comments, layout and docstrings do not count.
"""

from __future__ import annotations

import ast
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from ascendflow.cache.digest import digest_bytes
from ascendflow.errors import AscendflowError

if TYPE_CHECKING:
    from collections.abc import Iterator


_ONE_AT_A_TIME = Lock()
"""Up to Python 3.11.7 two threads that parse count their depths of recursion together, and
one of them raises SystemError."""


class Import(NamedTuple):
    """One import, as it is written."""

    line: int
    level: int
    """Number of leading dots; 0 is absolute."""
    module: str
    names: list[str]
    """Empty for `import module`; ["*"] for a star import."""


class Syntax(NamedTuple):
    """What the digest of a module needs to know of one file."""

    digest: str
    imports: list[Import]
    defined: list[str]
    """Names bound at the top level."""


def read_syntax(source: bytes, path: str) -> Syntax:
    """Parse one file.

    Raises:
        AscendflowError: it is not Python; names the file and the line.
    """
    try:
        with _ONE_AT_A_TIME:
            tree = ast.parse(source, filename=path)
    except (SyntaxError, ValueError) as error:  # ValueError: a null byte
        line = getattr(error, "lineno", None) or 1
        raise AscendflowError(
            f"{path}:{line}: cannot be parsed: {getattr(error, 'msg', error)}"
        ) from error
    imports = list(_imports(tree))
    defined = sorted(set(_defined(tree.body)))
    text = ast.unparse(_WithoutStrings().visit(tree))
    return Syntax(digest_bytes(text.encode("utf-8", "surrogatepass")), imports, defined)


class _WithoutStrings(ast.NodeTransformer):
    """Drops statements that are nothing but a string: docstrings, of whatever they are."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        is_string = isinstance(node.value, ast.Constant) and isinstance(
            node.value.value, str
        )
        return None if is_string else node


def _imports(node: ast.AST) -> Iterator[Import]:
    """Find the imports that can run, also in functions; not those for types only."""
    for child in _runnable(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(child.lineno, 0, alias.name, [])
        elif isinstance(child, ast.ImportFrom):
            names = [alias.name for alias in child.names]
            yield Import(child.lineno, child.level, child.module or "", names)
        else:
            yield from _imports(child)


def _runnable(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.If) and ast.unparse(node.test) in (
        "TYPE_CHECKING",
        "typing.TYPE_CHECKING",
    ):
        yield from node.orelse
    else:
        yield from ast.iter_child_nodes(node)


def _defined(body: list[ast.stmt]) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield statement.name
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            for alias in statement.names:
                yield alias.asname or alias.name.partition(".")[0]
        else:
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    yield node.id
