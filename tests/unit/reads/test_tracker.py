"""What a stage reads is recorded, however it is read; and nothing else is."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.children import Repository

if TYPE_CHECKING:
    from pathlib import Path

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")

NPY = (
    b"\x93NUMPY\x01\x00v\x00{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }"
    + b" " * 60
    + b"\nabcd"
)
ZIP = b"PK\x05\x06" + bytes(18)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


BY_PYTHON = {
    "open": "open('data.bin', 'rb').read()",
    "open-for-update": "open('data.bin', 'r+b').read()",
    "open-for-append-and-read": "open('data.bin', 'a+b').read()",
    "os-open": "import os; os.close(os.open('data.bin', os.O_RDONLY))",
    "pathlib": "from pathlib import Path; Path('data.bin').read_bytes()",
    "absolute-path": "(ctx.folder / 'data.bin').read_bytes()",
    "bytes-path": "open(b'data.bin', 'rb').close()",
    "through-dot-dot": "open('../pan/data.bin', 'rb').close()",
    "mmap": """
        import mmap
        with open('data.bin', 'rb') as f:
            mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
        """,
    "shutil-copy": "import shutil, tempfile; shutil.copy('data.bin', tempfile.mkdtemp())",
    "sqlite3-that-exists": """
        import sqlite3
        try:
            sqlite3.connect('data.bin').execute('select * from t')
        except sqlite3.DatabaseError:
            pass
        """,
    "dlopen": """
        import ctypes
        try:
            ctypes.CDLL('./data.bin')
        except OSError:
            pass
        """,
    "importlib-resources": """
        import importlib.resources
        importlib.resources.files('package').joinpath('../data.bin').read_bytes()
        """,
    "thread": """
        import threading
        t = threading.Thread(target=lambda: open('data.bin').close())
        t.start(); t.join()
        """,
    "after-chdir": "import os; os.chdir('/'); (ctx.folder / 'data.bin').read_bytes()",
    "read-before-it-is-overwritten": """
        text = open('data.bin').read()
        open('data.bin', 'w').write(text)
        """,
}


@pytest.mark.parametrize("body", BY_PYTHON.values(), ids=BY_PYTHON)
def test_a_file_read_by_python_is_recorded(repository: Repository, body: str) -> None:
    repository.write("pipelines/pan/data.bin", "some text")
    repository.write("pipelines/pan/package/__init__.py", "")

    assert "pipeline:data.bin" in repository.reads(body)["reads"]["files"]


NATIVELY = {
    "subprocess-cat": "import subprocess; subprocess.run(['cat', 'data.bin'], check=True)",
    "subprocess-python": """
        import subprocess, sys
        subprocess.run([sys.executable, '-c', "open('data.bin').read()"], check=True)
        """,
    "forked-worker": """
        import os
        if (pid := os.fork()) == 0:
            open('data.bin').read()
            os._exit(0)
        os.waitpid(pid, 0)
        """,
    "ctypes-fopen": """
        import ctypes
        libc = ctypes.CDLL(None)
        libc.fopen.restype = ctypes.c_void_p
        assert libc.fopen(b'data.bin', b'rb')
        """,
    "grandchild-with-the-lock-held": """
        import ctypes
        assert ctypes.PyDLL(None).system(b'cat data.bin') == 0
        """,
}


@linux_only
@pytest.mark.parametrize("body", NATIVELY.values(), ids=NATIVELY)
def test_a_file_read_natively_is_recorded(repository: Repository, body: str) -> None:
    repository.write("pipelines/pan/data.bin", "some text")

    result = repository.reads(body)

    assert result["warnings"] == []
    assert "pipeline:data.bin" in result["reads"]["files"]


def test_files_read_by_numpy_and_its_like_are_recorded(repository: Repository) -> None:
    for name in ("load.npy", "mapped.npy"):
        repository.write(f"pipelines/pan/{name}", NPY)
    repository.write("pipelines/pan/raw.bin", b"abcd")
    repository.write("pipelines/pan/archive.zip", ZIP)
    repository.write("pipelines/pan/plain.json", "{}")

    result = repository.reads("""
        import json, zipfile
        import numpy as np
        assert np.load('load.npy').tobytes() == b'abcd'
        np.load('mapped.npy', mmap_mode='r')
        np.fromfile('raw.bin', np.uint8)
        zipfile.ZipFile('archive.zip').namelist()
        json.load(open('plain.json'))
        """)

    names = ["archive.zip", "load.npy", "mapped.npy", "plain.json", "raw.bin"]
    assert result["reads"]["files"] == [f"pipeline:{name}" for name in names]
    assert "numpy" in result["distributions"]


@linux_only
def test_a_model_read_by_onnxruntime_is_recorded(repository: Repository) -> None:
    import onnx
    from onnx import TensorProto, helper

    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in ("x", "y")
    ]
    node = helper.make_node("Identity", ["x"], ["y"])
    graph = helper.make_graph([node], "g", ends[:1], ends[1:])
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8
    )
    onnx.save(model, str(repository.write("pipelines/pan/m.onnx")))

    result = repository.reads("import onnxruntime as o; o.InferenceSession('m.onnx')")

    assert "pipeline:m.onnx" in result["reads"]["files"]
    assert "onnxruntime" in result["distributions"]


@pytest.mark.slow
def test_weights_read_by_torch_are_recorded(repository: Repository) -> None:
    torch = pytest.importorskip("torch")
    torch.save({"w": torch.zeros(1)}, repository.write("pipelines/pan/w.pt"))

    result = repository.reads("import torch; torch.load('w.pt', weights_only=True)")

    assert result["reads"]["files"] == ["pipeline:w.pt"]
    assert "torch" in result["distributions"]


def test_modules_are_recorded_by_their_source(repository: Repository) -> None:
    repository.write("pipelines/pan/model.py", "import shared.layers\n")
    repository.write("shared/__init__.py", "")
    repository.write("shared/layers.py", "")

    reads = repository.reads("import model")["reads"]

    assert reads["files"] == [
        "pipeline:model.py",
        "repository:shared/__init__.py",
        "repository:shared/layers.py",
    ]
    # A new pipelines/pan/shared.py would be imported instead.
    assert {"pipeline:shared.py", "pipeline:shared/__init__.py"} <= set(reads["missing"])
    assert reads["folders"] == []


@linux_only
def test_a_module_that_a_subprocess_runs_from_its_pyc_is_recorded(
    repository: Repository,
) -> None:
    repository.write("pipelines/pan/worker.py", "X = 1")
    body = """
        import subprocess, sys
        subprocess.run([sys.executable, '-c', 'import worker'], check=True)
        """
    repository.reads(body)
    assert list((repository.folder / "__pycache__").iterdir())

    assert repository.reads(body)["reads"]["files"] == ["pipeline:worker.py"]


LISTING = {
    "os-listdir": "import os; os.listdir('pictures')",
    "os-scandir": "import os; list(os.scandir('pictures'))",
    "os-walk": "import os; list(os.walk('pictures'))",
    "glob": "import glob; glob.glob('pictures/*.png')",
    "pathlib-iterdir": "list((ctx.folder / 'pictures').iterdir())",
    "pathlib-glob": "list((ctx.folder / 'pictures').glob('*.png'))",
    "by-descriptor": "import os; os.listdir(os.open('pictures', os.O_RDONLY))",
    "in-the-folder": "import os; os.chdir('pictures'); os.listdir()",
}


@pytest.mark.parametrize("body", LISTING.values(), ids=LISTING)
def test_a_folder_that_is_listed_is_recorded(repository: Repository, body: str) -> None:
    repository.write("pipelines/pan/pictures/1.png")

    assert "pipeline:pictures" in repository.reads(body)["reads"]["folders"]


def test_what_glob_found_and_opened_is_recorded(repository: Repository) -> None:
    repository.write("pipelines/pan/pictures/1.png")
    repository.write("pipelines/pan/pictures/2.txt")

    reads = repository.reads("""
        import glob
        for path in glob.glob('pictures/*.png'):
            open(path, 'rb').close()
        """)["reads"]

    assert reads["files"] == ["pipeline:pictures/1.png"]
    assert reads["folders"] == ["pipeline:pictures"]


def test_listing_by_the_import_system_is_not_recorded(repository: Repository) -> None:
    repository.write("pipelines/pan/helper.py", "")

    reads = repository.reads("""
        import helper, importlib.metadata
        importlib.metadata.version('numpy')
        importlib.metadata.entry_points(group='none')
        try:
            import not_there_at_all
        except ImportError:
            pass
        """)["reads"]

    assert reads["folders"] == []


def test_names_tried_and_not_found_are_recorded(repository: Repository) -> None:
    reads = repository.reads("""
        import os
        for action in (lambda: open('override.json'), lambda: os.listdir('extra')):
            try:
                action()
            except FileNotFoundError:
                pass
        """)["reads"]

    assert reads["missing"] == ["pipeline:extra", "pipeline:override.json"]


def test_files_of_a_root_are_named_by_it(repository: Repository) -> None:
    data = repository.top / "datasets"
    (data / "faces").mkdir(parents=True)
    (data / "faces" / "1.bin").write_text("x")
    repository.spec["roots"] = {"data": data}

    reads = repository.reads(f"""
        import os, subprocess
        os.listdir({str(data)!r} + '/faces')
        subprocess.run(['cat', {str(data)!r} + '/faces/1.bin'], check=True)
        """)["reads"]

    assert reads["folders"] == ["data:faces"]
    assert reads["files"] == (["data:faces/1.bin"] if sys.platform == "linux" else [])


IGNORED = {
    "system": "open('/etc/passwd').read(); open('/proc/self/stat').read()",
    "python": "import os; open(os.__file__).read(); import xml.dom.minidom",
    "build": "(ctx.folder / '../../build/pan/x').resolve().read_text()",
    "store": "(ctx.folder / '../../.ascendflow/x').resolve().read_text()",
    "git": "(ctx.folder / '../../.git/HEAD').resolve().read_text()",
    "environment": "(ctx.folder / '../../.venv/x').resolve().read_text()",
    "temporary": """
        import tempfile
        with tempfile.NamedTemporaryFile('w+') as f:
            open(f.name).read()
        """,
    "created-file": "open('new', 'w').close(); open('new').read()",
    "created-folder": """
        import os
        os.mkdir('d'); open('d/new', 'w').close(); os.listdir('d')
        """,
    "created-by-rename": """
        import os
        open('partial', 'w').close(); os.rename('partial', 'new'); open('new').read()
        """,
    "created-after-a-try": """
        try:
            open('cache')
        except FileNotFoundError:
            open('cache', 'w').close()
        """,
    "written-only": "open('old', 'a').close()",
    "overwritten": "open('old', 'w').close(); open('old').read()",
    "missing-elsewhere": """
        try:
            open('/nowhere/at/all')
        except FileNotFoundError:
            pass
        """,
    "device": "open('/dev/null').read()",
}


@pytest.mark.parametrize("body", IGNORED.values(), ids=IGNORED)
def test_what_is_no_input_is_not_recorded(repository: Repository, body: str) -> None:
    for path in ("build/pan/x", ".ascendflow/x", ".git/HEAD", ".venv/x"):
        repository.write(path)
    repository.write("pipelines/pan/old")

    reads = repository.reads(body)["reads"]

    assert reads == {"files": [], "folders": [], "missing": []}


@linux_only
@pytest.mark.parametrize(
    "command", ["echo x > new; cat new", "mkdir d; echo x > d/new; cat d/new"]
)
def test_what_a_subprocess_creates_is_not_recorded(
    repository: Repository, command: str
) -> None:
    body = f"import subprocess; subprocess.run({command!r}, shell=True, check=True)"

    assert repository.reads(body)["reads"]["files"] == []


@linux_only
@pytest.mark.parametrize(
    "replace",
    ["echo x > new; mv new old", "mv old aside; echo x > old", "rm old; echo x > old"],
)
@pytest.mark.parametrize("order", ["{read}; {replace}", "{replace}; {read}"])
def test_what_was_there_and_is_replaced_meanwhile_is_recorded(
    repository: Repository, replace: str, order: str
) -> None:
    """As an editor does that saves by renaming: else no later edit would be noticed."""
    repository.write("pipelines/pan/old")
    body = order.format(
        read="open('old').read()",
        replace=f"import subprocess; subprocess.run({replace!r}, shell=True, check=True)",
    )

    assert repository.reads(body)["reads"]["files"] == ["pipeline:old"]


@linux_only
@pytest.mark.parametrize(
    ("read", "kind", "name"),
    [
        ("open('new').read()", "files", "pipeline:new"),
        ("import os; os.listdir('d')", "folders", "pipeline:d"),
    ],
)
def test_what_another_made_meanwhile_and_python_read_is_recorded(
    repository: Repository, read: str, kind: str, name: str
) -> None:
    """As a checkout of another commit does: else no later edit would be noticed."""
    make = "import subprocess; subprocess.run('echo x > new; mkdir d', shell=True)"
    result = repository.reads(f"{make}\n{read}")

    assert result["reads"][kind] == [name]
    assert result["appeared"] == list(result["states"]) == [name]


REPLACE = """
    import subprocess
    subprocess.run('rm -r {folder}; mv {other} {folder}', shell=True, check=True)
    """


@linux_only
def test_folder_that_another_one_takes_the_place_of_is_refused(
    repository: Repository,
) -> None:
    """It may come from anywhere, and nobody sees what native code opens in it."""
    repository.write("pipelines/pan/labels/names")
    other = repository.top / "other"
    other.mkdir()

    error = repository.error(REPLACE.format(folder="labels", other=other))

    assert error["kind"] == "StageError"
    assert "labels was replaced by another folder while" in error["message"]


@linux_only
@pytest.mark.parametrize("folder", ["__pycache__", "../../.venv"])
def test_folder_that_holds_no_inputs_may_be_replaced(
    repository: Repository, folder: str
) -> None:
    repository.write(f"pipelines/pan/{folder}/names")
    other = repository.top / "other"
    other.mkdir()

    assert repository.reads(REPLACE.format(folder=folder, other=other))["ok"] is True


def test_folder_that_the_stage_itself_makes_anew_is_no_trouble(
    repository: Repository,
) -> None:
    repository.write("pipelines/pan/cache/entry")

    assert repository.reads("import shutil, os; shutil.rmtree('cache'); os.mkdir('cache')")[
        "ok"
    ]


@linux_only
def test_what_another_made_and_took_away_meanwhile_is_not_recorded(
    repository: Repository,
) -> None:
    result = repository.reads("""
        import subprocess
        subprocess.run('echo x > new', shell=True)
        open('new').read()
        subprocess.run(['rm', 'new'])
        """)

    assert result["reads"]["files"] == result["appeared"] == []


@linux_only
def test_name_that_was_tried_before_another_made_it_is_missing(
    repository: Repository,
) -> None:
    result = repository.reads("""
        import subprocess
        try:
            open('new')
        except FileNotFoundError:
            subprocess.run('echo x > new', shell=True)
        """)

    assert result["reads"]["missing"] == ["pipeline:new"]


def test_what_the_spec_gives_by_role_is_not_recorded_again(repository: Repository) -> None:
    weights = repository.write("pipelines/pan/weights.bin")
    repository.spec["files"] = {"weights": weights}
    repository.spec["outputs"] = {"made.json": repository.work / "out" / "made.json"}

    reads = repository.reads("""
        ctx.files['weights'].read_text()
        ctx.outputs['made.json'].parent.mkdir()
        ctx.outputs['made.json'].write_text('{}')
        """)["reads"]

    assert reads["files"] == []


@linux_only
def test_other_programs_reads_are_not_recorded_for_a_stage_without_user_code(
    repository: Repository,
) -> None:
    repository.write("pipelines/pan/data.bin")

    result = repository.reads(NATIVELY["subprocess-cat"], runs_user_code=False)

    assert result["reads"]["files"] == []
    assert result["warnings"] == []


@pytest.mark.parametrize("what", ["file", "module", "folder"])
def test_a_read_outside_of_all_roots_is_refused_with_the_cure(
    repository: Repository, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = repository.top / "elsewhere"
    outside.mkdir()
    (outside / "x.py").write_text("")
    (repository.top / "temporary").mkdir()
    # The test's own folder is a temporary one; let it be another's.
    monkeypatch.setenv("TMPDIR", str(repository.top / "temporary"))
    bodies = {
        "file": f"open({str(outside)!r} + '/x.py')",
        "module": f"import sys; sys.path.append({str(outside)!r}); import x",
        "folder": f"import os; os.listdir({str(outside)!r})",
    }

    error = repository.error(bodies[what])

    assert error["kind"] == "StageError"
    assert str(outside) in error["message"]
    assert error["hint"] is not None
    assert 'roots = {name = "folder"}' in error["hint"]


@pytest.mark.parametrize("on_path", [True, False])
def test_metadata_of_an_editable_install_is_no_read_of_users(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, *, on_path: bool
) -> None:
    """A search for entry points opens it; it lies beside the code, in no site-packages."""
    metadata = repository.top / "elsewhere" / "other.egg-info"
    metadata.mkdir(parents=True)
    (metadata / "PKG-INFO").write_text("Name: other\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[some.group]\nhello = json:loads\n")
    (repository.top / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(repository.top / "temporary"))
    if not on_path:
        body = f"open({str(metadata)!r} + '/entry_points.txt').close()"
        assert str(metadata) in repository.error(body)["message"]
        return
    repository.preamble = f"import sys; sys.path.append({str(metadata.parent)!r})"

    result = repository.reads(
        "from importlib.metadata import entry_points\n"
        "assert [e.name for e in entry_points(group='some.group')] == ['hello']"
    )

    assert result["reads"]["files"] == []


def test_a_file_read_through_a_link_keeps_the_links_name(repository: Repository) -> None:
    repository.write("pipelines/pan/a.png")
    (repository.folder / "current.png").symlink_to("a.png")
    (repository.folder / "linked").symlink_to(".")

    files = repository.reads("open('current.png').close(); open('linked/a.png').close()")

    assert "pipeline:current.png" in files["reads"]["files"]
    assert "pipeline:linked/a.png" in files["reads"]["files"]


@linux_only
def test_a_link_to_what_native_code_read_is_recorded_too(repository: Repository) -> None:
    repository.write("pipelines/pan/sets/a/1.png")
    (repository.folder / "current").symlink_to("sets/a")

    body = "import subprocess; subprocess.run(['cat', 'current/1.png'], check=True)"
    files = repository.reads(body)["reads"]["files"]

    assert files == ["pipeline:current/1.png", "pipeline:sets/a/1.png"]


def test_a_link_that_leads_outside_is_refused(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository.top / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(repository.top / "temporary"))
    (repository.top / "outside.bin").write_text("x")
    (repository.folder / "inside.bin").symlink_to(repository.top / "outside.bin")

    error = repository.error("open('inside.bin').close()")

    assert "outside of the repository" in error["message"]


def test_declared_reads_are_recorded_with_the_folders_they_list(
    repository: Repository,
) -> None:
    repository.write("pipelines/pan/pictures/a/1.png")
    repository.spec["config"] = {"reads": ["pictures/**"]}

    reads = repository.reads("pass")["reads"]

    assert reads["files"] == ["pipeline:pictures/a/1.png"]
    assert reads["folders"] == ["pipeline:pictures", "pipeline:pictures/a"]


def test_a_declared_read_that_is_not_there_is_warned_about(repository: Repository) -> None:
    repository.spec["config"] = {"reads": ["picture/**"]}

    result = repository.reads("pass")

    assert result["warnings"] == ["the declared read 'picture/**' matches no file"]


def test_without_inotify_the_result_says_that_native_reads_are_unknown(
    repository: Repository,
) -> None:
    repository.write("pipelines/pan/data.bin")
    repository.preamble = """
import ascendflow.reads.inotify

class NoMore:
    def __init__(self, folders, skip):
        raise OSError("inotify_add_watch: No space left on device")

ascendflow.reads.inotify.Inotify = NoMore
"""

    result = repository.reads(NATIVELY["subprocess-cat"])

    assert result["reads"]["files"] == []
    (warning,) = result["warnings"]
    assert "No space left" in warning
    assert "samples.reads" in warning


def test_a_hook_that_failed_means_that_nothing_is_recorded(repository: Repository) -> None:
    repository.preamble = """
import ascendflow.reads.audit
ascendflow.reads.audit._found = lambda path: 1 / 0
"""

    error = repository.error("open('/etc/passwd').close()")

    assert error["kind"] == "InternalError"
    assert "recording reads failed" in error["message"]


@linux_only
def test_lost_events_mean_that_nothing_is_recorded(repository: Repository) -> None:
    repository.preamble = """
import ascendflow.reads.inotify as i
i.Inotify.drain = lambda self: setattr(self.opened, "overflowed", True)
"""

    error = repository.error("pass")

    assert error["kind"] == "StageError"
    assert "max_queued_events" in error["hint"]
