"""A proof spares an up-to-date run its judging, and never one that would find a change.

Whether a proof is believed is asked of ascendflow itself, in a process of its own; what the
next run does is asked of doit.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from ascendflow.build.proof import _still_missing
from tests.checkouts import ALL, PASSED, Checkout

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Edit = Callable[[Checkout], object]

ASK = """\
from pathlib import Path
from ascendflow.build.project import Project
from ascendflow.build.proof import Proofs
from ascendflow.tasks.planning import plan_of
from ascendflow.tasks.variables import Variables

project = Project(Path.cwd())
plan = plan_of(project, "toy", Variables("toy", None, None))
"""


def answer(checkout: Checkout, expression: str, prelude: str = "") -> str:
    """Ask ascendflow, in a process that begins now."""
    done = subprocess.run(
        [sys.executable, "-c", f"{prelude}{ASK}print({expression})"],
        cwd=checkout.folder,
        env={"PYTHONPATH": str(checkout.folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def believes(checkout: Checkout) -> bool:
    """Ask whether a run that began now would believe its proof."""
    return answer(checkout, "Proofs(project).of(plan) is not None") == "True"


def proof_of(checkout: Checkout) -> Path:
    return checkout.path(".ascendflow/proofs/toy.json")


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """Return a built checkout that need not wait for its files to settle."""
    checkout = Checkout(tmp_path_factory.mktemp("template") / "repository")
    checkout.edit("ascendflow/build/proof.py", "time.time_ns() - SETTLED_NS", "1 << 63")
    assert checkout.doit("model=toy").code == 0
    return checkout


@pytest.fixture
def proven(template: Checkout, tmp_path: Path) -> Checkout:
    checkout = template.copied_to(tmp_path / "repository")
    for _ in range(2):
        assert checkout.doit("model=toy").executed == []
    return checkout


def test_two_runs_that_find_nothing_stale_make_a_proof(
    template: Checkout, tmp_path: Path
) -> None:
    checkout = template.copied_to(tmp_path / "repository")
    states = []
    for _ in range(3):
        assert checkout.doit("model=toy").executed == []
        states.append(json.loads(proof_of(checkout).read_text())["judged"])

    assert states == [False, True, True]
    assert believes(checkout)


def test_a_run_with_a_proof_says_the_same_and_judges_nothing(proven: Checkout) -> None:
    before = proven.doit("model=toy")
    proven.edit(
        "ascendflow/tasks/uptodate.py", "judgement = judge(", "judgement = 1 / 0 and judge("
    )
    doubted = proven.doit("model=toy")
    # Let the proof take the edited package for what it was made with.
    kept = json.loads(proof_of(proven).read_text())
    for path in kept["states"]:
        state = os.stat(path)
        kept["states"][path] = (
            f"{state.st_size} {state.st_mtime_ns} {state.st_ctime_ns} {state.st_ino}"
        )
    kept["ascendflow"] = answer(proven, "project.package_digest()")
    proof_of(proven).write_text(json.dumps(kept))
    after = proven.doit("model=toy")

    assert PASSED in before.text
    assert "ZeroDivisionError" in doubted.text
    assert (after.code, after.text) == (before.code, before.text)


def rewritten(path: str, *, keep_mtime: bool = False) -> Edit:
    """Change one byte of a file, and nothing of its size."""

    def edit(checkout: Checkout) -> None:
        file = checkout.path(path)
        state, data = file.stat(), bytearray(file.read_bytes())
        data[-2] ^= 1
        file.write_bytes(data)
        if keep_mtime:
            os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))

    return edit


def replaced_by_link(checkout: Checkout) -> None:
    file = checkout.path("build/toy/convert/model/content.json")
    file.rename(checkout.path("elsewhere"))
    file.symlink_to(checkout.path("elsewhere"))


EDITS: dict[str, Edit] = {
    "an output": rewritten("build/toy/convert/model/content.json"),
    "an output, its mtime put back": rewritten(
        "build/toy/export/exported/content.json", keep_mtime=True
    ),
    "a file more in an output": lambda c: c.path("build/toy/convert/model/x").touch(),
    "an output gone": lambda c: c.path("build/toy/infer/outputs/content.json").unlink(),
    "a stage gone": lambda c: c.path("build/toy/gate").rename(c.path("gate")),
    "an output that is a link": replaced_by_link,
    "a record": rewritten("build/toy/simplify/record.json"),
    "the plan": rewritten("build/toy/plan.json"),
    "the manifest": lambda c: c.edit("pipelines/toy/manifest.yaml", "min: 0.9", "min: 0.8"),
    "user code": lambda c: c.edit("pipelines/toy/strokes.py", "3", "4"),
    "a picture more": lambda c: c.path("pipelines/toy/pictures/two.txt").write_text("two"),
    "ascendflow": lambda c: c.edit("ascendflow/errors.py", "import", "import  "),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_no_proof_survives_an_edit(proven: Checkout, edit: Edit) -> None:
    assert believes(proven)
    edit(proven)

    assert not believes(proven)


def touched(checkout: Checkout) -> None:
    """Give everything another mtime, as a cache that was restored has."""
    for folder, folders, files in os.walk(checkout.folder):
        for name in (*folders, *files):
            os.utime(os.path.join(folder, name), (10**9, 10**9))


def test_a_proof_holds_for_the_same_contents_with_new_mtimes(proven: Checkout) -> None:
    touched(proven)

    assert believes(proven)
    assert proven.doit("model=toy").executed == []


def test_its_contents_are_proven_by_their_new_states_then(proven: Checkout) -> None:
    touched(proven)
    assert believes(proven)

    kept = json.loads(proof_of(proven).read_text())
    path = str(proven.path("build/toy/convert/model/content.json"))
    assert kept["states"][path].split()[1] == str(os.stat(path).st_mtime_ns)
    assert kept["judged"] is True
    proven.path(".ascendflow/contents/toy.json").unlink()
    assert believes(proven)


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_with_new_mtimes_no_proof_survives_an_edit_either(
    proven: Checkout, edit: Edit
) -> None:
    touched(proven)
    edit(proven)

    assert not believes(proven)


def test_contents_of_other_states_or_damaged_ones_prove_nothing(proven: Checkout) -> None:
    kept = proven.path(".ascendflow/contents/toy.json")
    text = kept.read_text()
    path, _ = max(json.loads(text)["contents"].items())
    states = json.loads(text)["states"] | {path: "1 2 3 4"}
    other = json.dumps(json.loads(text) | {"states": states})
    for broken in (other, text[:-9], "[]", text.replace("sha256:", "sha256:0")):
        kept.write_text(broken)
        touched(proven)
        assert not believes(proven)


def test_no_proof_survives_a_file_that_was_looked_for_in_vain(
    template: Checkout, tmp_path: Path
) -> None:
    checkout = template.copied_to(tmp_path / "repository")
    checkout.edit(
        "pipelines/toy/data.py",
        "    folder =",
        "    try:\n        open(Path(__file__).with_name('more.txt'))\n"
        "    except FileNotFoundError:\n        pass\n    folder =",
    )
    for _ in range(3):
        assert checkout.doit("model=toy").code == 0
    assert "pipeline:more.txt" in checkout.record("samples")["reads"]["missing"]
    assert believes(checkout)
    checkout.path("pipelines/toy/more.txt").touch()

    assert not believes(checkout)
    assert "samples" in checkout.doit("model=toy").executed


def test_what_is_missing_is_asked_for_by_folder_and_by_name(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "dead").symlink_to("nowhere")
    (tmp_path / "file").touch()
    missing = [
        str(tmp_path / name) for name in ("gone/a", "gone/b", "there/a", "file/a", "there2")
    ]
    found = [str(tmp_path / name) for name in ("there/dead", "file", "there")]

    assert _still_missing([*missing, *found, "/"]) == missing
    assert missing == [
        path for path in [*missing, *found, "/"] if not os.path.lexists(path)
    ]


BROKEN: dict[str, Callable[[dict[str, object]], object]] = {
    "another schema": lambda kept: kept | {"schema": 0},
    "another python": lambda kept: kept | {"python": "3.8"},
    "another machine": lambda kept: kept | {"platform": {"os": "linux"}},
    "another tool": lambda kept: kept | {"tools": {"doit": "0.1"}},
    "a tool gone": lambda kept: kept | {"tools": {"no-such-tool": "1.0"}},
    "not judged": lambda kept: kept | {"judged": False},
    "judged 1": lambda kept: kept | {"judged": 1},
    "no states": lambda kept: {k: v for k, v in kept.items() if k != "states"},
    "states of another kind": lambda kept: kept | {"states": [1, None]},
    "no object": lambda kept: [kept],
    "something that is there": lambda kept: kept | {"missing": ["/"]},
}


def test_a_proof_that_does_not_fit_is_not_believed(proven: Checkout) -> None:
    text = proof_of(proven).read_text()
    wrong = {name: json.dumps(broken(json.loads(text))) for name, broken in BROKEN.items()}
    wrong["half of one"] = text[: len(text) // 2]
    believed = []
    for name, proof in wrong.items():
        proof_of(proven).write_text(proof)
        if believes(proven):
            believed.append(name)

    assert believed == []
    assert proven.doit("model=toy").executed == []
    proof_of(proven).write_text(text)
    assert believes(proven)


def test_a_lost_database_runs_every_stage_again_whatever_is_proven(
    proven: Checkout,
) -> None:
    proven.path(".ascendflow/doit.json").unlink()

    assert proven.doit("model=toy").restored == ALL


def test_what_changed_while_a_run_judged_is_not_proven(
    template: Checkout, tmp_path: Path
) -> None:
    """The second run looks before it judges; what it saw by then is all it may note."""
    checkout = template.copied_to(tmp_path / "repository")
    assert checkout.doit("model=toy").executed == []
    seen_before = json.loads(proof_of(checkout).read_text())
    checkout.path("pipelines/toy/pictures/two.txt").write_text("two")
    assert "samples" in checkout.doit("model=toy").executed
    proof_of(checkout).write_text(json.dumps(seen_before))

    assert checkout.doit("model=toy").executed == []
    assert json.loads(proof_of(checkout).read_text())["judged"] is False


def test_files_that_were_just_written_are_not_proven(
    first_run: object, checkout: Checkout
) -> None:
    """Within a tick of the clock a second change would leave the same ctime."""
    del first_run
    hour = "- 3600 * 10**9"  # so that it does not matter how long the runs take
    checkout.edit("ascendflow/build/proof.py", "- SETTLED_NS", hour)
    for _ in range(3):
        assert checkout.doit("model=toy").executed == []

    assert json.loads(proof_of(checkout).read_text())["judged"] is False


def test_a_copied_checkout_has_a_proof_of_the_other_and_believes_none(
    proven: Checkout, tmp_path: Path
) -> None:
    copy = proven.copied_to(tmp_path / "copy")
    copy.edit("pipelines/toy/data.py", "count]", "count, 1]")

    assert believes(proven)
    assert not believes(copy)
    assert "samples" in copy.doit("model=toy").executed


def test_a_root_that_is_turned_elsewhere_ends_the_proof(
    template: Checkout, tmp_path: Path
) -> None:
    checkout = template.copied_to(tmp_path / "repository")
    for version in ("v1", "v2"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "one.txt").write_text(version)
    root = tmp_path / "current"
    root.symlink_to("v1")
    with checkout.path("pyproject.toml").open("a") as file:
        file.write(f'\n[tool.ascendflow]\nroots = {{data = "{root}"}}\n')
    reads = f"open({str(root / 'one.txt')!r}).read(), [pictures"
    checkout.edit("pipelines/toy/data.py", "[pictures", reads)
    for _ in range(3):
        assert checkout.doit("model=toy").code == 0
    assert believes(checkout)
    root.unlink()
    root.symlink_to("v2")

    assert not believes(checkout)
    assert "samples" in checkout.doit("model=toy").executed


FULL = """\
from ascendflow.errors import AscendflowError
from ascendflow.tasks import planning

def full(*_):
    raise AscendflowError("the disk is full")

planning.write_bytes = full
"""


def test_a_plan_that_cannot_be_kept_is_not_proven_by_the_one_that_was(
    proven: Checkout,
) -> None:
    """The file of the old plan is as it was; the new plan is not in it."""
    before = proven.path("build/toy/plan.json").read_bytes()
    proven.edit("pipelines/toy/manifest.yaml", "force_fp16", "allow_fp32_to_fp16")

    asked = answer(proven, "Proofs(project).of(plan)", prelude=FULL)

    assert proven.path("build/toy/plan.json").read_bytes() == before
    assert asked == "None"
