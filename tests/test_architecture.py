"""The structure that everything hangs on: import contracts, registries, sizes."""

from __future__ import annotations

import ast
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from ascendflow import vocabulary

PACKAGE = Path(vocabulary.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))

FLOW = "Data flows one way, so imports point down"
CYCLES = "No package has a cycle among its members"
DOIT = "Only tasks knows doit"
ONNX_IR = "Only what edits graphs knows onnx-ir"
REPORT = "A report is made from artifacts, never by running anything"

HEAVY = {
    *("torch", "onnx", "onnx_ir", "onnxruntime", "onnxsim", "numpy"),
    *("pydantic", "ruamel.yaml", "jsonschema", "rich", "jinja2"),
}
LOADERS = {"load_stage", "load_backend"}


def _lint_imports(root: Path) -> tuple[int, str]:
    done = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_import_contracts_are_kept() -> None:
    status, report = _lint_imports(PACKAGE.parent)

    assert status == 0, report


STAGE = "ascendflow.stages.stage"


@pytest.mark.parametrize(
    ("module", "imports", "contract", "reported"),
    [
        pytest.param(
            "metrics.stray", STAGE, FLOW, f"-> {STAGE}", id="metrics-imports-a-stage"
        ),
        pytest.param(
            "report.stray", STAGE, REPORT, f"-> {STAGE}", id="report-imports-a-stage"
        ),
        pytest.param("plan", "doit", DOIT, "plan -> doit", id="plan-imports-doit"),
        pytest.param(
            "helpers", "sys", FLOW, "- ascendflow.helpers", id="module-in-no-layer"
        ),
        pytest.param(
            "cache.stray", "onnx_ir", ONNX_IR, "-> onnx_ir", id="cache-edits-graphs"
        ),
        pytest.param("cache.a", "ascendflow.cache.b", CYCLES, "No cycles", id="cycle"),
    ],
)
def test_broken_import_contract_is_reported(
    tmp_path: Path, module: str, imports: str, contract: str, reported: str
) -> None:
    shutil.copytree(PACKAGE, tmp_path / "ascendflow")
    shutil.copy(PACKAGE.parent / "pyproject.toml", tmp_path)
    path = (tmp_path / "ascendflow").joinpath(*module.split(".")).with_suffix(".py")
    with path.open("a") as file:
        file.write(f"\nimport {imports}\n")
    if contract == CYCLES:
        path.with_stem("b").write_text(f"import ascendflow.{module}\n")

    status, report = _lint_imports(tmp_path)

    assert status == 1
    assert f"{contract} BROKEN" in report
    assert reported in report


def test_starting_doit_imports_nothing_heavy() -> None:
    code = (
        "import sys, ascendflow.tasks, ascendflow.cli, ascendflow.plan, ascendflow.build\n"
        f"print(*[name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=PACKAGE.parent,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr


def test_registries_hold_exactly_the_names_of_the_vocabulary() -> None:
    from ascendflow.backends import BACKENDS, load_backend
    from ascendflow.graph.rules import RULES
    from ascendflow.metrics.registry import METRICS
    from ascendflow.stages import STAGES, load_stage

    assert tuple(name for name, _ in STAGES) == vocabulary.STAGES
    assert tuple(name for name, _ in BACKENDS) == vocabulary.BACKENDS
    assert tuple((rule.name, rule.version) for rule in RULES) == vocabulary.RULES
    assert {(name, m.direction) for name, m in METRICS.items()} == set(vocabulary.METRICS)
    assert tuple(load_stage(name).name for name in vocabulary.STAGES) == vocabulary.STAGES
    assert (
        tuple(load_backend(name).name for name in vocabulary.BACKENDS)
        == vocabulary.BACKENDS
    )


def _logic(source: str) -> list[str]:
    """Return what a package's `__init__` may not hold.

    It may hold a docstring, imports, assignments and a loader: digests of code leave
    `__init__` files out unless a name defined there is imported.
    """
    return [
        f"line {statement.lineno}: {ast.unparse(statement).splitlines()[0]}"
        for statement in ast.parse(source).body
        if not _is_declaration(statement)
    ]


def _is_declaration(statement: ast.stmt) -> bool:
    match statement:
        case ast.Import() | ast.ImportFrom() | ast.Assign() | ast.AnnAssign():
            return not any(
                isinstance(
                    node, ast.Lambda | ast.ListComp | ast.DictComp | ast.GeneratorExp
                )
                for node in ast.walk(statement)
            )
        case ast.Expr(value=ast.Constant()) | ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.FunctionDef(name=name):
            return name in LOADERS
    return False


@pytest.mark.parametrize(
    "path",
    [path for path in SOURCES if path.name == "__init__.py"],
    ids=lambda path: str(path.parent.relative_to(PACKAGE.parent)),
)
def test_package_init_holds_no_logic(path: Path) -> None:
    assert _logic(path.read_text()) == []


@pytest.mark.parametrize(
    "source",
    [
        "def compare(): ...",
        "class Thing: ...",
        "print('imported')",
        "for name in (): ...",
        "TABLE = {name: 1 for name in ()}",
        "pick = lambda: 1",
        "if True:\n    x = 1",
    ],
)
def test_logic_in_a_package_init_is_reported(source: str) -> None:
    assert len(_logic(f'"""Doc."""\nimport sys\nX = (1,)\n{source}\n')) == 1


def test_files_and_functions_stay_small() -> None:
    files = [path.read_text() for path in SOURCES if path.name != "__init__.py"]
    functions = sorted(
        _body_lines(node)
        for text in files
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )

    assert statistics.median(len(text.splitlines()) for text in files) < 180
    assert functions[int(len(functions) * 0.9)] < 30


def _body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return how many lines a function's body has, its docstring left out."""
    first = function.body[1:2] if ast.get_docstring(function) else function.body[:1]
    return (function.body[-1].end_lineno or 0) - first[0].lineno + 1 if first else 0


@pytest.mark.parametrize("word", ["utils", "helpers", "common", "manager", "handler"])
def test_no_module_is_named_after_nothing(word: str) -> None:
    assert [path.name for path in SOURCES if word in path.stem.split("_")] == []


def test_committed_schemas_are_what_the_types_generate() -> None:
    from ascendflow.manifest import schema

    assert schema.drift(schema.folder()) == []
