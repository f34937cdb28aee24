"""The child: what it sets up, what it says about a stage that fails, what it refuses."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from importlib.util import cache_from_source
from pathlib import Path

import numpy as np
import pytest

from ascendflow.child.command import child_argv, child_environment
from ascendflow.child.result import UNWRITTEN
from ascendflow.process import run_child, tail
from tests.children import CHILD_MODULES, Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def test_a_stage_that_made_its_outputs_is_ok(repository: Repository) -> None:
    out = repository.work / "out"
    repository.spec["outputs"] = {
        "exported": out / "exported",
        "nodes.json": out / "n.json",
    }
    status, result = repository.run("""
        ctx.outputs["exported"].mkdir(parents=True)
        ctx.outputs["nodes.json"].write_text("{}")
        ctx.findings.warnings.append("careful")
        ctx.findings.facts["nodes"] = 5
        ctx.findings.kept["exported/w"] = KeptFile("source", "w")
        """)

    assert status.returncode == 0
    assert result == {
        "ok": True,
        "warnings": ["careful"],
        "facts": {"nodes": 5},
        "kept": {"exported/w": {"role": "source", "path": "w"}},
        "reads": {"files": [], "folders": [], "missing": []},
        "states": {},
        "appeared": [],
        "distributions": [],
    }


def test_outputs_that_were_not_made_are_named(repository: Repository) -> None:
    out = repository.work / "out"
    repository.spec["outputs"] = {"exported": out / "e", "nodes.json": out / "n.json"}

    error = repository.error("ctx.outputs['nodes.json'].mkdir(parents=True)")

    assert error["kind"] == "StageError"
    assert "the folder 'exported', the file 'nodes.json'" in error["message"]


def test_an_ascendflow_error_comes_without_a_traceback(repository: Repository) -> None:
    error = repository.error("raise NotModelledError('no fp32 there', hint='take fp16')")

    expected = {"kind": "NotModelledError", "message": "no fp32 there", "hint": "take fp16"}
    assert error == expected
    assert "Traceback" not in repository.log.read_text()


def test_an_error_about_the_manifest_says_of_what(repository: Repository) -> None:
    error = repository.error("raise StageError('no', keys=('inputs', 0, 'shape'))")

    assert str(error["keys"]) == "['inputs', 0, 'shape']"


def test_an_error_in_user_code_names_file_and_line(repository: Repository) -> None:
    repository.write("pipelines/pan/data.py", "def samples():\n    return {}['image']\n")

    error = repository.error("import data; data.samples()")

    assert error["kind"] == "StageError"
    assert error["message"] == "pipelines/pan/data.py:2: KeyError: 'image'"
    assert error["hint"] is None
    assert "Traceback" in repository.log.read_text()


def test_an_error_in_a_library_called_by_user_code_names_the_users_line(
    repository: Repository,
) -> None:
    repository.write("pipelines/pan/data.py", "import json\n\njson.loads('no')\n")

    message = repository.error("import data")["message"]

    assert message.startswith("pipelines/pan/data.py:3: json.decoder.JSONDecodeError: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            "x = 1\nx = = 2\n", "data.py:2: SyntaxError: invalid syntax", id="syntax"
        ),
        pytest.param(
            "\nimport nothing_like_it\n",
            "data.py:2: ModuleNotFoundError: No module named 'nothing_like_it'",
            id="import",
        ),
        pytest.param("import sys\nsys.exit(3)\n", "data.py:2: SystemExit: 3", id="exit"),
    ],
)
def test_user_code_that_cannot_be_imported_is_the_users_error(
    repository: Repository, text: str, message: str
) -> None:
    repository.write("pipelines/pan/data.py", text)

    error = repository.error("import data")

    assert error["kind"] == "StageError"
    assert error["message"] == f"pipelines/pan/{message}"


def test_any_other_error_is_a_bug_with_a_traceback_in_the_log(
    repository: Repository,
) -> None:
    error = repository.error("raise ValueError('ours')")

    assert error["kind"] == "InternalError"
    assert error["message"] == "ValueError: ours"
    assert "Traceback" in repository.log.read_text()


def test_a_full_disk_is_no_bug(repository: Repository) -> None:
    error = repository.error("raise OSError(28, 'No space left on device', 'out/x')")

    assert error["kind"] == "StageError"
    assert error["message"] == "cannot use out/x: No space left on device"
    assert "free some space" in str(error["hint"])


def test_shapes_beyond_all_memory_are_no_bug(repository: Repository) -> None:
    error = repository.error("import numpy as np\nnp.empty(1 << 50)")

    assert error["kind"] == "StageError"
    assert error["message"].startswith("out of memory: Unable to allocate 8.00 PiB")
    assert "shapes" in error["hint"]


def test_a_result_that_cannot_be_written_is_told_by_the_exit_status(
    repository: Repository,
) -> None:
    repository.preamble = "import shutil"

    status, result = repository.run(f"shutil.rmtree({str(repository.work)!r})")

    assert status.returncode == UNWRITTEN
    assert result == {}


def test_a_fact_that_json_cannot_say_is_a_bug(repository: Repository) -> None:
    error = repository.error("ctx.findings.facts['x'] = float('nan')")

    assert error["kind"] == "InternalError"


def test_a_module_outside_of_the_code_digest_is_refused(repository: Repository) -> None:
    body = "from importlib import import_module; import_module('ascendflow.tensors')"
    error = repository.error(body)

    assert error["kind"] == "InternalError"
    assert "ascendflow.tensors" in error["message"]

    repository.spec["modules"] = [*CHILD_MODULES, "ascendflow.tensors"]
    repository.reads(body)


def test_the_list_of_a_childs_modules_is_what_a_child_imports(
    repository: Repository,
) -> None:
    result = repository.reads("""
        import sys
        ctx.findings.facts["modules"] = sorted(
            name for name, module in sys.modules.items()
            if name.startswith("ascendflow.") and not hasattr(module, "__path__")
        )
        """)

    lazily = {"ascendflow.reads.inotify"}  # in the observer's process
    assert set(result["facts"]["modules"]) | lazily == set(CHILD_MODULES)
    assert list(CHILD_MODULES) == sorted(CHILD_MODULES)


def test_relative_paths_of_user_code_start_at_the_pipeline_folder(
    repository: Repository,
) -> None:
    result = repository.reads("import os; ctx.findings.facts['cwd'] = os.getcwd()")

    assert result["facts"]["cwd"] == str(repository.folder.resolve())


def test_user_modules_come_before_installed_ones_and_the_folder_before_the_repository(
    repository: Repository,
) -> None:
    repository.write("pipelines/pan/jinja2.py", "WHERE = 'folder'")
    repository.write("jinja2.py", "WHERE = 'repository'")
    repository.write("only.py", "WHERE = 'repository'")

    result = repository.reads("""
        import jinja2, only
        ctx.findings.facts["where"] = [jinja2.WHERE, only.WHERE]
        """)

    assert result["facts"]["where"] == ["folder", "repository"]


def test_python_and_numpy_draw_what_their_seed_says(repository: Repository) -> None:
    repository.spec["seed"] = 7
    result = repository.reads("""
        import random
        import numpy as np
        ctx.findings.facts["drawn"] = [random.random(), float(np.random.random())]
        ctx.findings.facts["loader"] = type(np.random.__loader__).__name__
        """)

    generator = random.Random(7)  # noqa: S311
    expected = [generator.random(), np.random.RandomState(7).random()]
    assert result["facts"]["drawn"] == expected
    assert result["facts"]["loader"] == "SourceFileLoader"


@pytest.mark.slow
def test_torch_draws_what_its_seed_says(repository: Repository) -> None:
    torch = pytest.importorskip("torch")
    repository.spec["seed"] = 7
    result = repository.reads("""
        import torch
        ctx.findings.facts["drawn"] = torch.rand(3).tolist()
        """)

    generator = torch.Generator().manual_seed(7)
    assert result["facts"]["drawn"] == torch.rand(3, generator=generator).tolist()


def test_neither_numpy_nor_torch_is_imported_for_its_seed(repository: Repository) -> None:
    result = repository.reads("""
        import sys
        ctx.findings.facts["heavy"] = sorted({"numpy", "torch", "onnx"} & set(sys.modules))
        """)

    assert result["facts"]["heavy"] == []


BY_NAME = "import helper; ctx.findings.facts['x'] = helper.X"
BY_PATH = """
    from importlib.util import module_from_spec, spec_from_file_location
    spec = spec_from_file_location('anything', ctx.folder / 'helper.py')
    helper = module_from_spec(spec)
    spec.loader.exec_module(helper)
    ctx.findings.facts['x'] = helper.X
    """


@pytest.mark.parametrize("body", [BY_NAME, BY_PATH], ids=["by-name", "by-path"])
def test_a_stale_pyc_of_a_user_module_is_not_run(repository: Repository, body: str) -> None:
    source = repository.write("pipelines/pan/helper.py", "X = 1\n")
    subprocess.run([sys.executable, "-m", "py_compile", source], check=True)
    times = source.stat()
    source.write_text("X = 2\n")
    os.utime(source, ns=(times.st_atime_ns, times.st_mtime_ns))
    plain = subprocess.run(
        [sys.executable, "-c", "import helper; print(helper.X)"],
        cwd=repository.folder,
        capture_output=True,
        check=True,
    )
    assert plain.stdout == b"1\n", "the .pyc is not stale, so that this test shows nothing"

    assert repository.reads(body)["facts"]["x"] == 2


@pytest.mark.parametrize("body", [BY_NAME, BY_PATH], ids=["by-name", "by-path"])
def test_no_pyc_of_a_user_module_is_written(repository: Repository, body: str) -> None:
    source = repository.write("pipelines/pan/helper.py", "X = 1\n")
    repository.reads(body)

    assert not Path(cache_from_source(str(source))).exists()


def test_the_watcher_is_not_a_child_that_user_code_waits_for(
    repository: Repository,
) -> None:
    repository.reads("""
        import os
        if os.fork() == 0:
            os._exit(5)
        pid, status = os.wait()
        assert os.waitstatus_to_exitcode(status) == 5
        try:
            os.wait()
        except ChildProcessError:
            return
        raise AssertionError('there was another child')
        """)


def test_a_thread_left_behind_does_not_keep_the_child(repository: Repository) -> None:
    repository.reads("""
        import threading, time
        threading.Thread(target=time.sleep, args=(1000,)).start()
        """)


def test_the_command_runs_a_stage_of_the_registry(repository: Repository) -> None:
    repository.spec["stage"] = "no-such-stage"
    repository.argv("pass")
    status = run_child(
        child_argv(repository.work / "spec.json"),
        cwd=repository.work,
        environment=child_environment({}, threads=1),
        log=repository.log,
    )

    assert status.returncode == 1
    assert "KeyError: 'no-such-stage'" in tail(repository.log)


def test_a_spec_of_another_version_is_refused(repository: Repository) -> None:
    repository.spec["schema_version"] = 2
    status, result = repository.run("pass")

    assert status.returncode == 1
    assert result == {}
    assert "schema_version 2, expected 1" in repository.log.read_text()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can be told")
def test_a_child_goes_first_where_memory_runs_out(repository: Repository) -> None:
    repository.write(
        "pipelines/pan/data.py", "raise ValueError(open('/proc/self/oom_score_adj').read())"
    )
    samples = {"module": "data.py", "factory": "make"}
    repository.spec |= {
        "config": {"inputs": [], "samples": samples},
        "outputs": {"samples": "out"},
    }
    repository.argv("pass")
    run_child(
        child_argv(repository.work / "spec.json"),
        cwd=repository.work,
        environment=child_environment({}, threads=1),
        log=repository.log,
    )

    assert "ValueError: 1000" in tail(repository.log)
