"""Over a real sshd on loopback; the board is this machine, with a stand-in device."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ascendflow.backends.cann import board
from ascendflow.backends.cann.board import ATTEMPTS, Board, folder_of
from ascendflow.backends.cann.ssh import LostError, Ssh
from ascendflow.errors import StageError, ToolFailedError
from ascendflow.process import end_all
from tests.checkouts import until
from tests.disks import small_disk
from tests.exported_models import model, node, value
from tests.oms import Device
from tests.sshd import Sshd, running_sshd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FED = [{"x": np.full((1, 4), n - 1, np.float32)} for n in range(3)]


@pytest.fixture
def sshd(tmp_path: Path) -> Iterator[Sshd]:
    with running_sshd(tmp_path / "ssh") as server:
        yield server


@pytest.fixture
def device(tmp_path: Path) -> Device:
    return Device(tmp_path)


@pytest.fixture
def om(device: Device) -> Path:
    proto = model(
        [node("Relu", ["x"], ["y"], name="act")], [value("x", [1, 4])], [value("y", [1, 4])]
    )
    return device.built(proto, {"x": [1, 4]}, external_weight=1)


def run(
    device: Device, om: Path, sshd: Sshd, **options: object
) -> list[dict[str, np.ndarray]]:
    given = {"host": sshd.host, "ssh_config": str(sshd.config), **options}
    return device.run(om, *FED, **given)


def left(sshd: Sshd) -> list[str]:
    """Return what of ours lies on the board; onnxruntime leaves files at home too."""
    return [path.name for path in sshd.home.iterdir() if path.name.startswith(".ascend")]


@pytest.fixture
def wrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return what puts a script in place of `sftp`; SFTP in it is the real one."""

    def put(script: str) -> None:
        wrapper = tmp_path / "wrap" / "sftp"
        wrapper.parent.mkdir()
        wrapper.write_text(
            "#!/bin/sh\n" + script.replace("SFTP", str(shutil.which("sftp")))
        )
        wrapper.chmod(0o755)
        monkeypatch.setenv("PATH", str(wrapper.parent), prepend=":")

    return put


LOGGED = 'for a; do case "$a" in */batch) cat "$a" >>{log};; esac; done\n'
"""Keeps what sftp is asked for."""
SLOW = """
for a; do case "$a" in */batch)
  if grep -q "^put weight" "$a"; then exec SFTP -l 2000 "$@"; fi;;
esac; done
exec SFTP "$@"
"""
"""A quarter of a megabyte a second, until the upload is gone on with."""


@pytest.mark.parametrize("api", ["ais_bench", "pyacl"])
def test_om_runs_on_the_board_and_nothing_stays_there(
    device: Device, om: Path, sshd: Sshd, api: str
) -> None:
    assert (om / "weight" / "weight_0f").is_file()
    found = run(device, om, sshd, api=api)
    assert [each["y"][0, 0] for each in found] == [0, 0, 1]
    assert left(sshd) == []


def test_board_is_cleaned_after_failures_too(
    device: Device, om: Path, sshd: Sshd, capfd: pytest.CaptureFixture[str]
) -> None:
    device.says(dies_at=1)
    with pytest.raises(ToolFailedError, match="number 1: the worker was killed by SIGSEGV"):
        run(device, om, sshd)
    device.says(soc="Ascend310B1")
    with pytest.raises(StageError, match="built for Ascend310P3, and device 0 is"):
        run(device, om, sshd)
    with pytest.raises(StageError, match=r"infer\.python: /no/python3 on"):
        run(device, om, sshd, python="/no/python3")
    with pytest.raises(StageError, match=r"infer\.toolkit: /no/cann on the board holds no"):
        run(device, om, sshd, toolkit="/no/cann")
    assert left(sshd) == []
    assert "left on" not in capfd.readouterr().out


def test_cann_of_the_board_is_held_to_the_om(device: Device, om: Path, sshd: Sshd) -> None:
    for info in device.toolkit.glob("*/*.info"):
        info.write_text(info.read_text().replace("8.1.RC1", "7.0.0"))
    with pytest.raises(StageError, match=r"built by CANN 8\.1\.RC1, and 7\.0\.0 is to run"):
        run(device, om, sshd)
    assert left(sshd) == []


def test_upload_that_broke_off_is_gone_on_with(
    device: Device, om: Path, sshd: Sshd, tmp_path: Path, wrap: Callable[[str], None]
) -> None:
    # What an earlier run left: the first half of the OM, and a weight of other bytes.
    there = sshd.home / folder_of(om)
    (there / "weight").mkdir(parents=True)
    whole = (om / "model.om").read_bytes()
    (there / "model.om").write_bytes(whole[: len(whole) // 2])
    (there / "weight" / "weight_0f").write_bytes(b"\1" * 16)
    log = tmp_path / "batches"
    wrap(LOGGED.format(log=log) + 'exec SFTP "$@"\n')

    found = run(device, om, sshd)

    assert len(found) == 3
    folder = folder_of(om)
    batches = log.read_text().splitlines()
    assert f"reput model.om {folder}/model.om" in batches
    assert f"put weight/weight_0f {folder}/weight/weight_0f" in batches
    assert f"put model.om {folder}/model.om" not in batches


def cut_at(sshd: Sshd, file: Path, size: int) -> Thread:
    """Cut the connections once a file has so many bytes on the board."""

    def watch() -> None:
        until(lambda: file.is_file() and file.stat().st_size >= size)
        assert sshd.cut()

    thread = Thread(target=watch)
    thread.start()
    return thread


def test_connection_that_is_cut_during_the_upload_is_made_again(
    device: Device, om: Path, sshd: Sshd, tmp_path: Path, wrap: Callable[[str], None]
) -> None:
    weight = om / "weight" / "weight_0f"
    weight.write_bytes(np.random.default_rng(0).bytes(6 << 20))
    log = tmp_path / "batches"
    wrap(LOGGED.format(log=log) + SLOW)
    name = f"{folder_of(om)}/weight/weight_0f"
    cutter = cut_at(sshd, sshd.home / name, 1 << 18)

    found = run(device, om, sshd)

    cutter.join()
    assert [each["y"][0, 0] for each in found] == [0, 0, 1]
    assert f"reput weight/weight_0f {name}" in log.read_text()
    assert left(sshd) == []


def test_results_are_fetched_again_where_the_connection_breaks(
    device: Device,
    om: Path,
    sshd: Sshd,
    monkeypatch: pytest.MonkeyPatch,
    wrap: Callable[[str], None],
) -> None:
    once = sshd.home / "broke"
    script = f"""
for a; do case "$a" in */batch)
  if grep -q "get .*out-0-0" "$a" && ! [ -e {once} ]; then touch {once}; exit 255; fi;;
esac; done
exec SFTP "$@"
"""
    wrap(script)
    monkeypatch.setattr(board, "PAUSES_S", (0.0,))
    assert len(run(device, om, sshd)) == 3
    assert once.exists()
    assert left(sshd) == []


def test_connection_that_does_not_come_back_is_told(
    device: Device,
    om: Path,
    sshd: Sshd,
    monkeypatch: pytest.MonkeyPatch,
    wrap: Callable[[str], None],
) -> None:
    script = """
for a; do case "$a" in */batch)
  if grep -q "get .*out-0-0" "$a"; then exit 255; fi;;
esac; done
exec SFTP "$@"
"""
    wrap(script)
    monkeypatch.setattr(board, "PAUSES_S", (0.0, 0.0))
    with pytest.raises(LostError, match=r"no connection to .*: it broke"):
        run(device, om, sshd)


def test_full_disk_is_told_and_freed(device: Device, om: Path, sshd: Sshd) -> None:
    (om / "weight" / "weight_0f").write_bytes(b"w" * (3 << 20))
    with small_disk(sshd.home):
        with pytest.raises(ToolFailedError, match="weight_0f") as raised:
            run(device, om, sshd)
        assert "disk full" in str(raised.value.hint)
        assert left(sshd) == []


@pytest.mark.parametrize(
    ("python", "said"),
    [
        ("/bin/true", "/bin/true on .* gives no answer: ended well"),
        ("/bin/false", "/bin/false on .* gives no answer: exited with status 1"),
        ("/no/python3", "/no/python3 on .* gives no answer: .*not found"),
    ],
)
def test_what_is_no_python_is_told_and_old_answers_are_none(
    device: Device, om: Path, sshd: Sshd, python: str, said: str
) -> None:
    there = sshd.home / folder_of(om)
    there.mkdir(parents=True)
    for name in ("seen.json", "digests.json"):
        (there / name).write_text("{}")
    with pytest.raises(StageError, match=said):
        run(device, om, sshd, python=python)
    assert left(sshd) == []


def test_names_of_the_board_may_be_odd(
    device: Device, om: Path, sshd: Sshd, tmp_path: Path
) -> None:
    odd = tmp_path / "o dd '\"$(x); p"
    odd.mkdir()
    (odd / "python3").symlink_to(device.infer_python)
    found = run(device, om, sshd, python=str(odd / "python3"))
    assert len(found) == 3
    with pytest.raises(StageError, match="cannot be told to a command"):
        run(device, om, sshd, python=f"{odd}\n/python3")
    assert left(sshd) == []


def test_leavings_of_a_week_ago_go_and_younger_ones_stay(
    device: Device, om: Path, sshd: Sshd
) -> None:
    old, young = (sshd.home / ".ascendflow" / name for name in ("old", "young"))
    for folder in (old, young):
        (folder / "weight").mkdir(parents=True)
    week_ago = time.time() - 9 * 24 * 3600
    os.utime(old, (week_ago, week_ago))
    run(device, om, sshd)
    assert [path.name for path in (sshd.home / ".ascendflow").iterdir()] == ["young"]


def test_upload_that_never_arrives_whole_ends(
    device: Device, om: Path, sshd: Sshd, wrap: Callable[[str], None]
) -> None:
    # A disk that keeps other bytes than it was given.
    there = sshd.home / folder_of(om) / "model.om"
    script = f"""
SFTP "$@" || exit
if [ -e {there} ]; then echo >{there}; fi
"""
    wrap(script)
    with pytest.raises(ToolFailedError, match=f"after {ATTEMPTS} attempts"):
        run(device, om, sshd)
    assert left(sshd) == []


def test_no_way_in_is_told_with_what_to_do(
    device: Device, om: Path, sshd: Sshd, tmp_path: Path
) -> None:
    known = tmp_path / "ssh" / "known_hosts"
    kept = known.read_text()
    known.write_text("")
    with pytest.raises(LostError, match="Host key verification failed") as raised:
        run(device, om, sshd)
    assert "connect by hand once" in str(raised.value.hint)
    known.write_text(kept)
    (tmp_path / "ssh" / "user_key.pub").write_text("")
    with pytest.raises(LostError, match="Permission denied") as raised:
        run(device, om, sshd)
    assert "ssh-copy-id" in str(raised.value.hint)


def test_nothing_of_a_manifest_reaches_a_shell(sshd: Sshd, tmp_path: Path) -> None:
    # Past the manifest's own checks: what a value holds is a name, and no command.
    for each in ("work", "logs"):
        (tmp_path / each).mkdir()
    ssh = Ssh(sshd.host, str(sshd.config), tmp_path / "work", tmp_path / "logs")
    mark = tmp_path / "mark"
    evil = f"$(touch {mark}); `touch {mark}`; ' ; touch {mark} #"
    (tmp_path / "work" / "worker.pyz").touch()
    there = Board(ssh, ".ascendflow/0f", evil)
    there.make()
    with pytest.raises(StageError, match=r"infer\.python"):
        there.look("/cann")
    there.clean()
    assert ssh.run(board.CLEAN, ["../.ascendflow/../ssh"]).returncode == 0
    assert ssh.run(board.MAKE, [f".ascendflow/{evil[:12]}"]).returncode == 0
    assert not mark.exists()
    assert (tmp_path / "ssh").is_dir()
    with pytest.raises(StageError, match="cannot be told"):
        ssh.run(board.MAKE, ["a\nb"])


def test_worker_ends_and_cleans_up_when_nobody_waits_for_it(
    device: Device, om: Path, sshd: Sshd, monkeypatch: pytest.MonkeyPatch
) -> None:
    device.says(sleeps_s=600)
    monkeypatch.setattr(board.Board, "clean", lambda _: None)
    folder = sshd.home / folder_of(om)

    def leave() -> None:
        until((folder / "answers.jsonl").exists)
        end_all()  # the ssh that holds the worker's input

    leaver = Thread(target=leave)
    leaver.start()
    with pytest.raises(ToolFailedError):
        run(device, om, sshd)
    leaver.join()
    until(lambda: not is_held(folder))
    assert left(sshd) == []


def is_held(folder: Path) -> bool:
    """Whether a worker is at work in `folder`."""
    commands = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            commands.append(each.read_bytes().decode(errors="replace"))
    return any(folder.name in command and "held" in command for command in commands)
