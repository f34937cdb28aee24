"""More than a thousand cases that ONNX's authors wrote, and how we came by them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from ascendflow.errors import NotModelledError
from tests.models import F32, model, node
from tests.models import run as run_in_onnxruntime
from tests.node_cases import cases, half, wheel
from tests.node_cases.__main__ import PAGE
from tests.node_cases.cases import Case
from tests.node_cases.judge import EXACT, HALF, How, Outcome, judge
from tests.node_cases.survey import Survey, worse

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def survey() -> Survey:
    try:
        folder = wheel.cases_folder()
    except wheel.UnavailableError as error:
        if wheel.is_required():
            raise
        pytest.skip(f"{error}; {wheel.REQUIRED}=required makes that a failure")
    return Survey.of(folder)


@pytest.mark.slow
def test_no_case_is_told_wrong(survey: Survey) -> None:
    assert survey.faults == []


@pytest.mark.slow
def test_no_operator_got_worse(survey: Survey) -> None:
    assert worse(PAGE.read_text(), survey.page()) == []


@pytest.mark.slow
def test_page_is_what_the_code_does(survey: Survey) -> None:
    assert survey.page() == PAGE.read_text(), "run: ./run python -m tests.node_cases write"


def relu_of(*numbers: float) -> Case:
    """A case of Relu, which fp16 spoils beyond 65504."""
    fed = np.array(numbers, F32)
    shape = [len(numbers)]
    made = model([node("Relu", ["x"], ["y"])], [("x", shape)], [("y", shape)])
    return Case("relu", made, {"x": fed}, (np.maximum(fed, 0),))


def test_case_that_is_told_wrong_is_found() -> None:
    good = relu_of(1, -2, 3)
    bad = replace(good, expected=(good.expected[0] + F32(0.1),))

    assert judge(good, EXACT).how == "agree"
    assert judge(bad, EXACT).how == "silent"
    assert "0.1 apart" in judge(bad, EXACT).why
    assert judge(replace(good, feeds={"x": None}), EXACT).how == "crashed"


def test_refusal_that_lint_does_not_tell_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    double = onnx.TensorProto.DOUBLE
    made = model([node("Relu", ["x"], ["y"])], [("x", [1], double)], [("y", [1], double)])
    case = Case("relu", made, {"x": np.ones(1)}, (np.ones(1),))

    assert judge(case, EXACT).how == "refused"
    assert "'x' is float64" in judge(case, EXACT).why
    monkeypatch.setattr("tests.emulation.lint", lambda *_: [])
    outcome = judge(case, EXACT)
    assert outcome.how == "silent"
    assert "convert refuses what lint passes: " in outcome.why


def test_refusal_of_the_run_is_no_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """What convert takes and the run does not is told by no finding."""

    def refuse(*_: object, **__: object) -> None:
        raise NotModelledError("emulator: onnxruntime cannot run 'y'")

    monkeypatch.setattr("tests.emulation.Trial.outputs", refuse)

    assert judge(relu_of(1), EXACT).how == "silent"


def test_half_that_is_not_what_rounding_makes_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    third = relu_of(1 / 3)

    assert judge(third, HALF).how == "agree"
    monkeypatch.setattr("tests.node_cases.cases.run", lambda *_: [np.zeros(1, F32)])
    outcome = judge(third, HALF)
    assert outcome.how == "silent"
    assert "not what rounding makes" in outcome.why


def test_number_that_fp16_cannot_hold_is_told_from_rounding() -> None:
    fed = {"x": np.array([1000.3], F32), "z": np.array([1000], F32)}
    made = model([node("Sub", ["x", "z"], ["y"])], [("x", [1]), ("z", [1])], [("y", [1])])

    assert judge(relu_of(70000), HALF).how == "range"
    # 1000.3 is 1000.5 in fp16, and the difference shows it.
    assert judge(Case("sub", made, fed, (fed["x"] - 1000,)), HALF).how == "rounding"


def test_storage_rounds_what_is_read_and_what_is_given() -> None:
    nodes = [node("Mul", ["x", "x"], ["s"]), node("Cast", ["s"], ["y"], to=1)]
    proto = model(nodes, [("x", [4])], [("y", [4])])
    fed = np.array([1 / 3, 300, -7e4, np.nan], F32)
    x = np.array([np.float16(1 / 3), 300, -65504, 0], F32)
    expected = np.float16(np.minimum(x * x, 65504)).astype(F32)

    np.testing.assert_array_equal(
        run_in_onnxruntime(half.stored(proto), {"x": fed})["y"], expected
    )


def test_case_that_onnxruntime_does_not_give_is_not_run(tmp_path: Path) -> None:
    write(relu_of(1, 2), tmp_path / "right")
    write(replace(relu_of(1, 2), expected=(np.zeros(2, F32),)), tmp_path / "wrong")

    assert cases.names(tmp_path) == ["right", "wrong"]
    assert judge(cases.read(tmp_path, "right"), EXACT).how == "agree"
    with pytest.raises(cases.NotRunError, match="onnxruntime gives other values"):
        cases.read(tmp_path, "wrong")
    survey = Survey.of(tmp_path)
    assert [outcome.how for outcome in survey.exact] == ["agree", "not run"]
    assert "| agree | 1 | 1 |" in survey.page()
    assert survey.faults == []


def write(case: Case, folder: Path) -> None:
    """Write a case in the form that ONNX's wheel has."""
    values = folder / "test_data_set_0"
    values.mkdir(parents=True)
    onnx.save(case.model, folder / "model.onnx")
    for kind, arrays in (("input", case.feeds.values()), ("output", case.expected)):
        for number, array in enumerate(arrays):
            tensor = onnx.numpy_helper.from_array(array)
            (values / f"{kind}_{number}.pb").write_bytes(tensor.SerializeToString())


def outcome(how: How, operator: str = "Relu") -> Outcome:
    return Outcome("case", operator, how, "some-deviation")


def test_survey_that_got_worse_is_found() -> None:
    def page(*hows: How) -> str:
        outcomes = tuple(map(outcome, hows))
        return Survey(outcomes, outcomes).page()

    before = page("agree", "agree")
    assert worse(before, page("agree", "agree")) == []
    assert worse(before, page("agree", "flagged")) == []
    assert worse(page("agree", "refused"), before) == []
    assert "Relu: 2 cases were told right, now 1" in worse(before, page("agree", "refused"))
    assert len(worse(before, page("agree", "silent"))) == 3
    assert worse(page("not run", "not run"), page("not run")) == []
    hows: tuple[How, ...] = ("silent", "crashed", "range", "refused")
    assert len(Survey(tuple(map(outcome, hows)), ()).faults) == 3
    assert len(worse(before, page("agree", "range"))) == 3


def test_wheel_that_is_not_the_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(wheel.UnavailableError, match="pip cannot fetch onnx==0"):
        wheel.cases_folder(tmp_path, "onnx==0 --hash=sha256:" + "0" * 64)
    assert list(tmp_path.iterdir()) == []
