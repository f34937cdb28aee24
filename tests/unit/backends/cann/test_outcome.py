"""Lines and exit codes are those of ATC's `main_impl.cc`; faults are reported ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ascendflow.backends.cann.outcome import Expected, Failure, outcome
from ascendflow.graph.run import OnnxModel
from ascendflow.process import ExitStatus

STARTED = "ATC start working now, please wait for a moment.\n...\n"
GOOD = STARTED + "ATC run success, welcome to the next use.\n"
FAILED = (
    STARTED
    + "ATC run failed, Please check the detail log, Try 'atc --help' for more information\n"
)
REFUSED = FAILED + "E19010: No parser is registered for Op [a, optype [ai.onnx::11::B]].\n"
STATIC = Expected("model")
DYNAMIC = Expected("model", is_dynamic=True)


def judged(
    output: str,
    *made: str,
    returncode: int = 0,
    expected: Expected = STATIC,
    problem: str | None = None,
) -> Path | Failure:
    status = ExitStatus(returncode, None, None, 1.0)
    paths = [Path(name) for name in made]
    nodes = {"a": "B"}
    return outcome(
        status, output, paths, expected, nodes=lambda: nodes, om_problem=lambda _: problem
    )


def failure(*args: object, **named: object) -> Failure:
    found = judged(*args, **named)  # type: ignore[arg-type]
    assert isinstance(found, Failure)
    return found


def test_model_is_taken_when_all_holds() -> None:
    assert judged(GOOD, "model.om", "fusion_result.json") == Path("model.om")
    warned = GOOD + "W11001: something is deprecated.\n"
    assert judged(warned, "model.om") == Path("model.om")


@pytest.mark.parametrize(
    ("output", "made", "match"),
    [
        pytest.param(STARTED, ["model.om"], "does not say that it succeeded", id="silent"),
        pytest.param("", ["model.om"], "does not say that it succeeded", id="no output"),
        pytest.param(GOOD, [], "left no model, not model.om", id="no file"),
        pytest.param(GOOD, ["a.om"], "left a.om, not model.om", id="another file"),
        pytest.param(
            GOOD, ["model.om", "model_linux_x86_64.om"], "left model.om, model_", id="both"
        ),
        pytest.param(
            GOOD, ["model_linux_aarch64.om"], "of dynamic shape, unasked", id="dynamic"
        ),
    ],
)
def test_success_that_is_none_is_told(output: str, made: list[str], match: str) -> None:
    found = failure(output, *made)

    assert match in found.message


def test_model_is_looked_into() -> None:
    found = failure(GOOD, "model.om", problem="cut short")

    assert found.message == "atc says that it succeeded, and model.om: cut short"


def test_exit_0_with_the_failure_line_is_a_refusal() -> None:
    found = failure(REFUSED, "model.om")

    assert found.message.startswith("atc refused the model: E19010: ")
    assert found.message.endswith("ONNX nodes: a")


def test_refusal_says_code_meaning_text_and_nodes() -> None:
    found = failure(REFUSED, returncode=255)

    assert found.message == (
        "atc refused the model: E19010: an operator of this opset has no parser\n"
        "  it says: No parser is registered for Op [a, optype [ai.onnx::11::B]].\n"
        "  ONNX nodes: a"
    )
    assert "ascendflow lint" in found.hint


def test_refusal_without_a_word_is_one_too() -> None:
    found = failure(STARTED, returncode=255)

    assert found.message == "atc failed with status 255 and gave no reason"


@pytest.mark.parametrize(
    ("returncode", "name"),
    [
        (137, "SIGKILL"),
        (-9, "SIGKILL"),
        (139, "SIGSEGV"),
        (134, "SIGABRT"),
        (-11, "SIGSEGV"),
    ],
)
def test_killed_compiler_is_no_refused_model(returncode: int, name: str) -> None:
    found = failure(STARTED, "model.om", returncode=returncode)

    number = abs(returncode) % 128
    assert found.message == f"atc was killed by {name} (signal {number})"
    assert ("memory" in found.hint) == (name == "SIGKILL")


def test_crash_keeps_what_was_said_before() -> None:
    found = failure(REFUSED, returncode=139)

    assert found.message == (
        "atc was killed by SIGSEGV (signal 11)\n"
        "  before that: E19010: an operator of this opset has no parser\n"
        "  it says: No parser is registered for Op [a, optype [ai.onnx::11::B]].\n"
        "  ONNX nodes: a"
    )


def test_crash_names_the_nodes_that_others_met_it_with(shared: Path) -> None:
    """OP04: signal 11 and status 139, no text, and NonMaxSuppression in the graph."""
    case = shared / "cases" / "OP04"
    feeds = {name: np.load(case / f"{name}.npy") for name in ("b", "s")}
    (selected,) = OnnxModel(case / "model.onnx").run(feeds).values()
    assert selected.tolist() == [[0, 0, 2], [0, 0, 0]]
    status = ExitStatus(139, None, None, 1.0)
    nodes = {"head/relu": "Relu", "head/nms": "NonMaxSuppression"}

    found = outcome(
        status, STARTED, [], STATIC, nodes=lambda: nodes, om_problem=lambda _: None
    )

    assert isinstance(found, Failure)
    assert found.message == "atc was killed by SIGSEGV (signal 11)"
    assert found.hint.endswith("cut the model before NonMaxSuppression head/nms")
    del nodes["head/nms"]
    found = outcome(
        status, STARTED, [], STATIC, nodes=lambda: nodes, om_problem=lambda _: None
    )
    assert isinstance(found, Failure)
    assert found.hint.endswith("`ascendflow lint`")


def test_limit_is_told_as_what_it_is() -> None:
    status = ExitStatus(-9, "timeout", "ran for 61.0 s, limits.timeout_s is 60", 61.0)
    found = outcome(status, "", [], STATIC, nodes=dict, om_problem=lambda _: None)

    assert isinstance(found, Failure)
    assert found.message == "atc ran for 61.0 s, limits.timeout_s is 60"


def test_dynamic_model_has_its_host_in_the_name() -> None:
    good = judged(GOOD, "model_linux_aarch64.om", expected=DYNAMIC)
    assert good == Path("model_linux_aarch64.om")
    assert (
        "left model.om, not model_" in failure(GOOD, "model.om", expected=DYNAMIC).message
    )
    asked = Expected("model", is_dynamic=True, host=("linux", "x86_64"))
    assert asked.names() == ("model_linux_x86_64.om",)
    other = failure(GOOD, "model_linux_aarch64.om", expected=asked)
    assert other.message.endswith("not model_linux_x86_64.om")


def test_mode_30_makes_another_file() -> None:
    nano = Expected("model", suffix=".exeom")

    assert judged(GOOD, "model.exeom", "model.dbg", expected=nano) == Path("model.exeom")
