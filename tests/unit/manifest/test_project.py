from __future__ import annotations

import tomllib

import pytest

from ascendflow.errors import UsageError
from ascendflow.manifest import project

TABLE = ("tool", "doit", "plugins", "command")
ENTRIES = {"init": "a.b:Init", "verify-store": "a.c:V"}
BLOCK = '[tool.doit.plugins.command]\ninit = "a.b:Init"\nverify-store = "a.c:V"\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("", BLOCK, id="no-file"),
        pytest.param(
            "[project]\nname = 'x'\n", f"[project]\nname = 'x'\n\n{BLOCK}", id="other"
        ),
        pytest.param("a = 1", f"a = 1\n\n{BLOCK}", id="no-line-end"),
        pytest.param(
            "[tool.doit.plugins.command]  # ours\nmine = 'm:M'\n[z]\n",
            "[tool.doit.plugins.command]  # ours\n"
            'init = "a.b:Init"\nverify-store = "a.c:V"\nmine = \'m:M\'\n[z]\n',
            id="table-is-there",
        ),
        pytest.param(
            "[tool.doit]\nverbosity = 2\n",
            f"[tool.doit]\nverbosity = 2\n\n{BLOCK}",
            id="doit",
        ),
        pytest.param(
            "[tool.doit.plugins.command]\ninit = 'my:Init'\n",
            "[tool.doit.plugins.command]\nverify-store = \"a.c:V\"\ninit = 'my:Init'\n",
            id="keeps-a-users-own",
        ),
        pytest.param("[tool.doit.plugins.command]", BLOCK, id="header-without-line-end"),
    ],
)
def test_entries_are_added_and_the_rest_is_left(before: str, after: str) -> None:
    assert project.with_entries(before, TABLE, ENTRIES) == after
    assert project.with_entries(after, TABLE, ENTRIES) == after


def test_windows_line_ends_stay() -> None:
    added = project.with_entries("[a]\r\nb = 1\r\n", TABLE, ENTRIES)

    assert "\n" not in added.replace("\r\n", "")
    assert tomllib.loads(added)["a"] == {"b": 1}


@pytest.mark.parametrize(
    "before",
    [
        pytest.param("[tool]\ndoit = {plugins = {command = {a = 'b:C'}}}\n", id="inline"),
        pytest.param("[tool.doit]\nplugins.command.a = 'b:C'\n", id="dotted"),
        pytest.param("[tool.doit]\nplugins = 5\n", id="no-table"),
        pytest.param(
            'x = """\n[tool.doit.plugins.command]\n"""\n', id="header-in-a-string"
        ),
    ],
)
def test_file_that_no_line_can_be_added_to_is_refused_with_the_lines(before: str) -> None:
    with pytest.raises(
        UsageError, match=r"cannot add to tool\.doit\.plugins\.command"
    ) as caught:
        project.with_entries(before, TABLE, ENTRIES)

    assert 'init = "a.b:Init"' in (caught.value.hint or "")


def test_broken_pyproject_is_refused() -> None:
    with pytest.raises(UsageError, match="is not valid TOML"):
        project.with_entries("[tool", TABLE, ENTRIES)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "build/\n.ascendflow/\n.doit.db*\n__pycache__/\n.venv/\n"),
        ("*.pt", "*.pt\nbuild/\n.ascendflow/\n.doit.db*\n__pycache__/\n.venv/\n"),
        (
            ".venv\r\n/build/\r\n",
            ".venv\r\n/build/\r\n.ascendflow/\r\n.doit.db*\r\n__pycache__/\r\n",
        ),
    ],
)
def test_ignored_lines_are_added_once(before: str, after: str) -> None:
    assert project.with_ignored(before) == after
    assert project.with_ignored(after) == after
