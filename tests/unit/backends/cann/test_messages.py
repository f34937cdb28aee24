"""Logs are such as users published, shortened; their names and codes are as they were."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascendflow.backends.cann.messages import Reported, diagnose, reported

OLD = """ATC start working now, please wait for a moment.
...
ATC run failed, Please check the detail log, Try 'atc --help' for more information
EZ3003: No supported Ops kernel and engine are found for [AddDsl], optype [A].
        Possible Cause: The operator is not supported by the system.
        Solution: 1. Check that the OPP component is installed properly.
        TraceBack (most recent call last):
        build graph failed, graph id:0, ret:-1[FUNC:BuildModel][FILE:ge_generator.cc]
"""
WITH_PID = """ATC run failed, Please check the detail log
EC0010: [PID: 129520] 2025-07-08-10:25:28.680.962 Failed to import Python module [a].
        Solution: Check that all required components are properly installed.
        TraceBack (most recent call last):
        AOE Failed to call InitCannKB[FUNC:Initialize][FILE:python_adapter_manager.cc]
"""
NEW = """[PID: 58133] 2026-01-14-06:41:59.991.811 Unsupported_Operator(EZ3002): Optype \
[TransData] of Ops kernel [A] is unsupported. Reason: op store.
        Possible Cause: N/A
        Solution: Submit an issue.
        TraceBack (most recent call last):
        Optype [Other] of Ops kernel [aicpu_ascend] is unsupported
"""
INNER = """EZ9999: Inner Error!
EZ9999[PID: 24481] 2025-10-29-03:18:08.948.444 (EZ9999):  The first dim is wrong.[FUNC:A]
        TraceBack (most recent call last):
       Tiling failed
"""
UNKNOWN = """E19999: Inner Error!
        An unknown error occurred. Please check the log.
"""
PARSER = "E19010: No parser is registered for Op [Conv_52, optype [ai.onnx::11::Convx]].\n"
NEW_PARSER = (
    "[PID: 7] 2026-01-02-03:04:05.678.901 Invalid_Argument_ONNX_Model_Data(E16002): "
    "No ONNX parser is registered for optype ai.onnx::11::FindMax.\n"
)
KERNEL = (
    "E40021: [PID:225981] 2025-01-08-23:21:51.183.024 Failed to compile Op "
    '[trans_TransData_51,]. (oppath: [Compile /a/trans_data.py failed with File "a"\n'
)
BARE = """EZ9999: Inner Error!
EZ9999  [InferShape] The k-axis of a(64) and b(9216) tensors must be the same[FUNC:A]
        TraceBack (most recent call last):
        Failed to infer output shape[FUNC:BatchMatMulInferShape][FILE:m.cc][LINE:2455]
        Call InferShapeAndType for node:up1(BatchMatMul) failed[FUNC:Infer][FILE:i.cc]
"""
VERIFYING = """E89999: [PID: 8] 2024-11-06-15:44:43.218.474 Get attr failed[FUNC:A]
       TraceBack (most recent call last):
       Verifying up1_x failed.[FUNC:InferShapeAndType][FILE:infershape_pass.cc]
"""
QUOTED = """E40021: Failed to compile Op [up1]. (oppath: [Pre-compile /a/b.py failed with \
errormsg/stack: File "/a/conv2d.py", line 3, in <module>
    import decorator
ModuleNotFoundError: No module named 'decorator'
], optype: [Conv2D])
        Solution: See the host log.
"""
NODES = {"Conv_52": "Convx", "/tome1/FindMax": "FindMax", "up1": "Resize", "up1_x": "Add"}


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (
            OLD,
            Reported(
                "EZ3003",
                "No supported Ops kernel and engine are found for [AddDsl], optype [A].",
                "The operator is not supported by the system.",
                "1. Check that the OPP component is installed properly.",
                ("AddDsl",),
                ("A",),
            ),
        ),
        (
            WITH_PID,
            Reported(
                "EC0010",
                "Failed to import Python module [a].",
                None,
                "Check that all required components are properly installed.",
                (),
                (),
            ),
        ),
        (
            NEW,
            Reported(
                "EZ3002",
                "Optype [TransData] of Ops kernel [A] is unsupported. Reason: op store.",
                None,
                "Submit an issue.",
                (),
                ("TransData",),
            ),
        ),
        (
            INNER,
            Reported("EZ9999", "The first dim is wrong.[FUNC:A]", None, None, (), ()),
        ),
        (
            UNKNOWN,
            Reported(
                "E19999",
                "Inner Error! An unknown error occurred. Please check the log.",
                None,
                None,
                (),
                (),
            ),
        ),
        (
            PARSER,
            Reported(
                "E19010",
                "No parser is registered for Op [Conv_52, optype [ai.onnx::11::Convx]].",
                None,
                None,
                ("Conv_52",),
                ("ai.onnx::11::Convx",),
            ),
        ),
        (
            NEW_PARSER,
            Reported(
                "E16002",
                "No ONNX parser is registered for optype ai.onnx::11::FindMax.",
                None,
                None,
                (),
                ("ai.onnx::11::FindMax",),
            ),
        ),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_both_formats_are_read(log: str, expected: Reported, end: str) -> None:
    assert reported(log.replace("\n", end)) == [expected]


def test_several_errors_keep_their_order_and_echoes_are_told_once() -> None:
    assert [each.code for each in reported(OLD + NEW + OLD)] == ["EZ3003", "EZ3002"]


def test_first_error_goes_before_warnings() -> None:
    said = diagnose("W11001: something is deprecated.\n" + PARSER, NODES)

    assert said is not None
    assert said.code == "E19010"
    assert diagnose("W11001: something is deprecated.\n", NODES) is None


@pytest.mark.parametrize(
    ("log", "nodes"),
    [
        pytest.param(PARSER, ("Conv_52",), id="by name"),
        pytest.param(NEW_PARSER, ("/tome1/FindMax",), id="by type"),
        pytest.param(BARE, ("up1",), id="in the trace"),
        pytest.param(VERIFYING, ("up1_x",), id="in the trace, verified"),
        pytest.param(QUOTED, ("up1",), id="with a quoted error"),
        pytest.param(KERNEL, (), id="inserted by ATC"),
        pytest.param(KERNEL.replace("trans_TransData_51", "up1_Resize"), ("up1",), id="of"),
        pytest.param(
            KERNEL.replace("trans_TransData_51", "up1_x_y"), ("up1_x",), id="long"
        ),
        pytest.param(
            KERNEL.replace("trans_TransData_51", "up10"), (), id="not a beginning"
        ),
    ],
)
def test_operator_is_traced_to_its_onnx_node(log: str, nodes: tuple[str, ...]) -> None:
    said = diagnose(log, NODES)

    assert said is not None
    assert said.nodes == nodes


@pytest.mark.parametrize("code", ["", "E40021: Failed to compile Op [trans_x].\n"])
@pytest.mark.parametrize(
    ("line", "meaning", "remedy"),
    [
        pytest.param(
            "TypeError: cannot pickle 'FrameLocalsProxy' object",
            "Python 3.13 or later",
            "doctor",
            id="EV01",
        ),
        pytest.param(
            "AttributeError: `np.float_` was removed in the NumPy 2.0 release.",
            "has numpy 2",
            "doctor",
            id="EV02",
        ),
        pytest.param(
            "AttributeError: module 'numpy' has no attribute 'float_'",
            "has numpy 2",
            "doctor",
            id="EV02 in older words",
        ),
    ],
)
def test_python_that_breaks_the_compiler_is_told_as_that(
    code: str, line: str, meaning: str, remedy: str
) -> None:
    said = diagnose(f"Traceback:\n  {line}\n{code}", NODES)

    assert said is not None
    assert meaning in said.meaning
    assert remedy in said.remedy
    assert said.text == line
    assert said.code == (code[:6] or None)
    assert diagnose("x = np.float_value", NODES) is None


def test_text_behind_a_bare_code_is_that_of_the_inner_error() -> None:
    (error,) = reported(BARE)
    assert error.text.startswith("[InferShape] The k-axis of a(64) and b(9216) tensors")


def test_error_that_is_quoted_over_several_lines_is_told_whole() -> None:
    said = diagnose(QUOTED + "[INFO] and so on\n", NODES)

    assert said is not None
    assert "ModuleNotFoundError: No module named 'decorator' ], optype" in said.text
    assert "and so on" not in said.text
    assert said.remedy.startswith("`ascendflow doctor` says what convert.python needs")
    assert said.remedy.endswith("; See the host log.")
    assert "pip install" not in said.remedy
    never_closed = "E40021: [\n" + "junk [\n" * 100 + "E10001: x\n"
    assert [each.code for each in reported(never_closed)] == ["E40021", "E10001"]
    assert reported(never_closed)[0].text.count("junk") < 60


def test_what_to_do_joins_ours_and_atcs() -> None:
    said = diagnose(OLD, {})

    assert said is not None
    assert said.meaning == "no engine supports an operator"
    assert said.remedy.startswith("`ascendflow lint` names the nodes")
    assert said.remedy.endswith("Check that the OPP component is installed properly.")


@pytest.mark.parametrize(
    ("log", "meaning"),
    [
        (
            "atc.bin: error while loading shared libraries: libascend_hal.so: cannot open",
            "the library libascend_hal.so of the driver is not found, nor its stand-in",
        ),
        (
            "atc.bin: error while loading shared libraries: libge.so: cannot open",
            "the library libge.so is not found",
        ),
        (
            "ERROR: unknown command line flag 'jit_compile'",
            "this CANN's ATC has no option jit_compile",
        ),
        (
            "ERROR: flag '--mode' is missing its argument; flag description: x",
            "the option mode got no value",
        ),
        ("ERROR: Non-option parameter: X", "ATC took X for no option"),
    ],
)
def test_what_is_said_without_a_code(log: str, meaning: str) -> None:
    said = diagnose(f"...\n  {log}\nsee the manual\n", {})

    assert said is not None
    assert (said.code, said.meaning, said.text) == (None, meaning, log)


@pytest.mark.parametrize(
    "log",
    [
        "",
        "ERROR: something",
        "ERRORS: 12",
        "[DEBUG] GE ParseJsonFormatString:add error_code EZ9999 success",
        "see (E1001): too short",
    ],
)
def test_no_code_is_read_into_other_text(log: str) -> None:
    assert diagnose(log, {}) is None


PIECES = ["E10001:", "(EZ9999):", " ", "\n", "\r", "Op [", "]", "optype", "[PID: 1]", "::"]


@given(
    st.lists(st.sampled_from(PIECES) | st.text(max_size=5)).map("".join)
    | st.binary().map(lambda raw: raw.decode(errors="replace"))
)
def test_no_bytes_make_it_raise(log: str) -> None:
    for each in reported(log):
        assert len(each.code) == 6
    diagnose(log, {"": "Add", "a": "", "b_": "Resize"})


def test_long_hostile_lines_take_no_time() -> None:
    reported("E10001: [\n" + "        node:" * 100_000 + "node:" * 100_000 + "\n")
    reported("(" * 200_000 + "\n" + "E10001: " + "Op [" * 100_000 + "optype " * 50_000)
