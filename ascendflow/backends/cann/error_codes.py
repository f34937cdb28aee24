"""What ATC's error codes mean, and what to do about each.

A code keeps its meaning from version to version; its wording does not, so that it is said
anew here. Sources: GE `base/common/error_registry/error_registry.cc`; the installed
`conf/error_manager/error_code.json` of 8.1.RC1.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Meaning:
    """One code, or all that begin alike.

    Attributes:
        code: "E10001", or the beginning of several: "E10".
        meaning: what went wrong.
        remedy: what to do next.
        source: who registers it.
    """

    code: str
    meaning: str
    remedy: str
    source: str


_GE = "GE error_registry.cc"
_TABLE = "error_code.json of 8.1.RC1"
_OPTION = "correct the option in `convert`"
_SHAPE = "correct `input_shape` in `convert`"
_GEARS = "correct the gears in `convert`"
_INSTALL = "check the installation in `convert.toolkit`"
_PYTHON = "check `convert.python`: its version, and the packages that CANN needs"
_LINT = "`ascendflow lint` names the nodes and the rules that replace them"
_LOG = "read the log; for more of it set `log: debug` in `convert`"

MEANINGS: tuple[Meaning, ...] = (
    Meaning("E10001", "an option has a value that ATC does not take", _OPTION, _GE),
    Meaning("E10002", "input_shape is not written as a shape", _SHAPE, _GE),
    Meaning("E10003", "an option's value does not fit another option", _OPTION, _GE),
    Meaning("E10004", "an option that is needed is empty", _OPTION, _GE),
    Meaning("E10005", "an option must be true or false", _OPTION, _GE),
    Meaning("E10006", "an option must be 1 or 0", _OPTION, _GE),
    Meaning("E10007", "a required option has none of its values", _OPTION, _GE),
    Meaning("E10008", "weights are missing", _OPTION, _GE),
    Meaning("E10009", "options exclude each other", "remove one of them", _GE),
    Meaning("E10010", "the log level is none", _OPTION, _GE),
    Meaning("E10011", "a size is not positive", _SHAPE, _GE),
    Meaning("E10012", "a scalar has no batch", _SHAPE, _GE),
    Meaning("E10016", "input_shape names what the model has not", _SHAPE, _GE),
    Meaning("E10017", "what input_shape names is no input", _SHAPE, _GE),
    Meaning("E10018", "only the first size may be open for batch gears", _SHAPE, _GE),
    Meaning("E10019", "only height and width may be open for image gears", _SHAPE, _GE),
    Meaning("E10020", "an image gear has not two values", _GEARS, _GE),
    Meaning("E10021", "a path is too long", "move the checkout to a shorter path", _GE),
    Meaning("E10022", "the output names no file", _OPTION, _GE),
    Meaning("E10031", "no size is open for batch gears", _SHAPE, _GE),
    Meaning("E10032", "a JSON file is not valid", "repair the file", _GE),
    Meaning("E10034", "an input of AIPP is said to be float16", _OPTION, _GE),
    Meaning("E10035", "there are too few gears", _GEARS, _GE),
    Meaning("E10036", "there are too many gears", _GEARS, _GE),
    Meaning("E10037", "gears have different numbers of values", _GEARS, _GE),
    Meaning("E10038", "a gear's value is not positive", _GEARS, _GE),
    Meaning("E10039", "a gear is given twice", _GEARS, _GE),
    Meaning("E10040", "gears need -1 in input_shape, and no ranges", _SHAPE, _GE),
    Meaning("E10041", "an OM cannot be loaded", "build it again", _GE),
    Meaning("E10045", "counts do not match", _OPTION, _GE),
    Meaning("E10046", "counts do not match", _OPTION, _GE),
    Meaning("E10047", "options exclude each other", "remove one of them", _GE),
    Meaning("E10048", "a range is none", _SHAPE, _GE),
    Meaning("E10049", "a shape has another number of sizes", _SHAPE, _GE),
    Meaning("E10050", "a size lies outside its range", _SHAPE, _GE),
    Meaning("E10052", "the AIPP file is wrong", "correct `insert_op_conf`", _GE),
    Meaning("E10054", "a required option is empty", _OPTION, _GE),
    Meaning("E10055", "the SoC does not take this mode", _OPTION, _GE),
    Meaning("E10056", "both precision modes are set", "remove one of them", _GE),
    Meaning("E10057", "options stand together that must not", _OPTION, _GE),
    Meaning("E10058", "an option is empty", _OPTION, _GE),
    Meaning("E10059", "a stage of the compiler failed", _LOG, _GE),
    Meaning("E10501", "an operator is in no library", _LINT, _GE),
    Meaning("E10", "an argument is wrong", _OPTION, _GE),
    Meaning("E11016", "out_nodes names what the model has not", _OPTION, _GE),
    Meaning("E11017", "out_nodes names an output that a node has not", _OPTION, _GE),
    Meaning("E11", "out_nodes, or Caffe's parser, is at odds with the model", _OPTION, _GE),
    Meaning("E12", "TensorFlow's parser failed", "models are ONNX here; report it", _GE),
    Meaning("E13", "a file cannot be read or written", "check its path and space", _GE),
    Meaning("E14", "a kernel's compilation got a wrong argument", _LOG, _GE),
    Meaning("E16001", "the model has no nodes of a kind", "check the ONNX file", _GE),
    Meaning("E16002", "an operator of this opset has no parser", _LINT, _GE),
    Meaning("E16004", "the ONNX file has no graph", "check the ONNX file", _GE),
    Meaning("E16005", "the opsets that the ONNX file imports are at odds", _LINT, _GE),
    Meaning("E16", "ATC cannot parse the ONNX model", _LINT, _GE),
    Meaning("E19010", "an operator of this opset has no parser", _LINT, _TABLE),
    Meaning("E19999", "an error inside the graph engine", _LOG, _GE),
    Meaning("E190", "a file cannot be read or written", "check its path and space", _TABLE),
    Meaning("W11", "a warning of the graph engine", _LOG, _GE),
    Meaning("E20001", "the compiler of an operator failed", _LOG, _TABLE),
    Meaning("E20002", "the environment of the fusion engine is wrong", _INSTALL, _TABLE),
    Meaning("E20003", "a configuration of the fusion engine is wrong", _INSTALL, _TABLE),
    Meaning("E20007", "a fusion pass failed", "turn it off: `fusion_switch_file`", _TABLE),
    Meaning("E21", "the fusion engine cannot use a file", "check the path", _TABLE),
    Meaning("E2", "the fusion engine failed", _LOG, _TABLE),
    Meaning("E3", "the AI CPU engine failed", _LOG, _TABLE),
    Meaning(
        "E40001", "a variable that kernels' compilation needs is wrong", _PYTHON, _TABLE
    ),
    Meaning("E40002", "the Python version does not fit CANN", _PYTHON, _TABLE),
    Meaning("E40003", "a JSON file of kernels' compilation is wrong", _INSTALL, _TABLE),
    Meaning("E40020", "a Python module cannot be imported", _PYTHON, _TABLE),
    Meaning("E40021", "a kernel cannot be compiled", _LINT, _TABLE),
    Meaning("E40022", "a kernel's compilation got a wrong argument", _LOG, _TABLE),
    Meaning("E40023", "a path of kernels' compilation is wrong", _INSTALL, _TABLE),
    Meaning("E40024", "a call into Python failed", _PYTHON, _TABLE),
    Meaning("E4000", "kernels cannot be compiled in this environment", _PYTHON, _TABLE),
    Meaning("E4", "the operator compiler failed", _LOG, _TABLE),
    Meaning("W40", "a warning of the operator compiler", _LOG, _TABLE),
    Meaning("E5", "an operator's own check failed", _LINT, _TABLE),
    Meaning("E6", "an operator's own check failed", _LINT, _TABLE),
    Meaning("E7", "an operator's own check failed", _LINT, _TABLE),
    Meaning("E8", "a vector operator's own check failed", _LINT, _TABLE),
    Meaning("E9", "a kernel's compiler failed", _LOG, _TABLE),
    Meaning("EA", "a kernel's compiler failed", _LOG, _TABLE),
    Meaning("EB", "a kernel's compiler failed", _LOG, _TABLE),
    Meaning("EC0010", "a Python module cannot be imported", _PYTHON, "users' reports"),
    Meaning("EC", "the tuner failed", _LOG, _TABLE),
    Meaning("ED", "deployment or AOE failed", _LOG, _TABLE),
    Meaning("EF", "AMCT failed", "check `compression_optimize_conf`", _TABLE),
    Meaning("EO", "quantisation or tuning failed", _LOG, _TABLE),
    Meaning(
        "EZ3002", "an engine does not support an operator as it is used", _LINT, _TABLE
    ),
    Meaning("EZ3003", "no engine supports an operator", _LINT, _TABLE),
    Meaning("EZ9010", "an operator of this opset has no parser", _LINT, _TABLE),
    Meaning("EZ0501", "an operator has no definition", _LINT, _TABLE),
    Meaning("EZ9999", "an error inside an operator", _LOG, _TABLE),
    Meaning("EZ", "an operator is not supported as it is used", _LINT, _TABLE),
    Meaning("EN", "picture preprocessing failed", _LOG, _TABLE),
    Meaning("EE", "the runtime failed", _LOG, _TABLE),
    Meaning("EH", "the runtime's interface failed", _LOG, _TABLE),
    Meaning("EI", "communication between devices failed", _LOG, _TABLE),
    Meaning("EJ", "communication between devices failed", _LOG, _TABLE),
    Meaning("EK", "profiling failed", _LOG, _TABLE),
    Meaning("EL", "the driver failed", "check the driver with `npu-smi info`", _TABLE),
)
"""The first that fits holds, so single codes stand before their family."""

UNKNOWN = Meaning("", "an error whose code is not known here", _LOG, "none")


def meaning(code: str) -> Meaning:
    """Look a code up; `UNKNOWN` where no family has it."""
    return next((each for each in MEANINGS if code.startswith(each.code)), UNKNOWN)
