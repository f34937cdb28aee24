from __future__ import annotations

import ast
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, BrokenBarrierError
from typing import Any

import pytest

from ascendflow.cache.syntax import Import, read_syntax
from ascendflow.errors import AscendflowError


def digest(source: str) -> str:
    return read_syntax(source.encode(), "x.py").digest


@pytest.mark.parametrize(
    ("a", "b"),
    [
        pytest.param("x = 1", "x  =  1  # one", id="comment-and-layout"),
        pytest.param('"""A."""\nx = 1', "x = 1", id="module-docstring"),
        pytest.param('def f():\n  "A"\n  return 1', "def f():\n  return 1", id="function"),
        pytest.param(
            'class A:\n  "A"\n  x = 1\n  "of x"', "class A:\n  x = 1", id="attribute"
        ),
        pytest.param("x = 'a'", 'x = "a"', id="quotes"),
    ],
)
def test_what_python_does_not_act_on_does_not_count(a: str, b: str) -> None:
    assert digest(a) == digest(b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        pytest.param("x = 1", "x = 1.0", id="constant"),
        pytest.param("x = 'a'", "x = 'b'", id="string-in-use"),
        pytest.param("f'{x}'", "f'{y}'", id="f-string-that-runs"),
        pytest.param("def f(a): pass", "def f(a=1): pass", id="default"),
        pytest.param("x = 1\ny = 2", "y = 2\nx = 1", id="order"),
        pytest.param("@d\ndef f(): pass", "def f(): pass", id="decorator"),
    ],
)
def test_what_python_acts_on_counts(a: str, b: str) -> None:
    assert digest(a) != digest(b)


def test_a_body_that_is_a_docstring_only_still_parses_apart_from_others() -> None:
    assert digest('def f():\n  "A"') != digest("def f():\n  return 1")
    assert digest('def f():\n  "A"') == digest('def f():\n  "B"')


def test_imports_keep_line_level_and_names() -> None:
    source = (
        b"import a.b, c\n\nfrom ..d import e as f, g\nfrom . import h\nfrom i import *\n"
    )

    assert read_syntax(source, "x.py").imports == [
        Import(1, 0, "a.b", []),
        Import(1, 0, "c", []),
        Import(3, 2, "d", ["e", "g"]),
        Import(4, 1, "", ["h"]),
        Import(5, 0, "i", ["*"]),
    ]


def test_names_bound_at_the_top_level_are_defined() -> None:
    source = (
        b"import a.b\nfrom c import d as e\nx = y = 1\nz: int = 2\ndef f():\n  inner = 1\n"
        b"class G: pass\nif x:\n  h = 1\n(i, *j) = x\n"
    )
    found = set(read_syntax(source, "x.py").defined)

    assert found == {"a", "e", "x", "y", "z", "f", "G", "h", "i", "j"}


@pytest.mark.parametrize(
    "source", [b"def (", b"x = 1\n  y = 2", b"\0", b"# coding: nope\n"]
)
def test_what_is_no_python_is_an_error_that_names_the_file(source: bytes) -> None:
    with pytest.raises(AscendflowError, match=r"x\.py:\d+: cannot be parsed"):
        read_syntax(source, "x.py")


def test_our_own_sources_can_be_parsed() -> None:
    with open(ast.__file__, "rb") as file:
        assert read_syntax(file.read(), ast.__file__).imports


def test_two_threads_never_parse_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """In Python 3.11.7 that raises SystemError of "recursion depth mismatch"."""
    parse, at_once = ast.parse, Barrier(2, timeout=0.2)

    def meet(*args: Any, **kwargs: Any) -> Any:
        with suppress(BrokenBarrierError):
            at_once.wait()
            met.append(True)
        return parse(*args, **kwargs)

    met: list[bool] = []
    monkeypatch.setattr(ast, "parse", meet)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(digest, ["x = 1", "y = 2"]))

    assert met == []
