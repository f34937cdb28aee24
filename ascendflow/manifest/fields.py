"""The types of the manifest's values: a check, and its twin in JSON Schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import PlainValidator, WithJsonSchema
from pydantic_core import core_schema

from ascendflow import atc_words, vocabulary
from ascendflow.manifest import checks
from ascendflow.manifest.backends import OF_A_DEVICE
from ascendflow.manifest.problems import closest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Checked:
    """A check of ours behind pydantic's own, and what it looks like in JSON Schema."""

    def __init__(self, check: Callable[[Any], Any], **schema: Any) -> None:
        self._check = check
        self._schema = schema

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Run the check on what pydantic accepted."""
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        """Add what is known of the value to its type's schema."""
        return {**handler(core), **self._schema}


def one_of(names: tuple[str, ...], hints: Mapping[str, str] | None = None) -> Checked:
    """Only these strings; editors offer them.

    Args:
        names: the strings.
        hints: a string that is none of them, where more is known of it -> what to do.
    """

    def check(value: str) -> str:
        if value not in names:
            must = f"must be one of {', '.join(names)}"
            hint = (hints or {}).get(value) or closest(value, names)
            raise checks.wrong(must, hint or closest(value, hints or ()))
        return value

    return Checked(check, enum=list(names))


RULE_NAMES = [vocabulary.AUTO, *(rule for rule, _ in vocabulary.RULES)]


class RuleOrName:
    """Reads `resize-half-pixel` as `{name: resize-half-pixel}`."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Turn a name into the mapping that the model wants."""

        def named(value: Any) -> Any:
            return {"name": value} if isinstance(value, str) else value

        return core_schema.no_info_before_validator_function(named, handler(source))

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        """Allow both spellings."""
        return {"anyOf": [{"enum": RULE_NAMES}, handler(core["schema"])]}


class RulesOrAuto:
    """Reads `auto` as `[auto]`."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Turn the word into the list that the model wants."""

        def listed(value: Any) -> Any:
            return [value] if value == vocabulary.AUTO else value

        return core_schema.no_info_before_validator_function(listed, handler(source))

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        """Allow both spellings."""
        return {"anyOf": [{"const": vocabulary.AUTO}, handler(core["schema"])]}


class OneOrList:
    """Reads `cann` as `[cann]`; a list names each once."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Turn a name into a list, and check the list."""

        def listed(value: Any) -> Any:
            return [value] if isinstance(value, str) else value

        checked = core_schema.no_info_after_validator_function(
            checks.each_once, handler(source)
        )
        return core_schema.no_info_before_validator_function(listed, checked)

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        """Allow both spellings."""
        several = handler(core["schema"])
        return {
            "anyOf": [several["items"], {**several, "minItems": 1, "uniqueItems": True}]
        }


class OrFile:
    """Takes a path, relative to the manifest's folder, in place of the value itself."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Check a path as one; leave all else to the value's own type."""

        def read(value: Any, inner: Callable[[Any], Any]) -> Any:
            return checks.relative_path(value) if isinstance(value, str) else inner(value)

        kept = core_schema.simple_ser_schema("any")
        return core_schema.no_info_wrap_validator_function(
            read, handler(source), serialization=kept
        )

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        """Allow both."""
        path = {"type": "string", "pattern": r"^[^/~\\]"}
        return {"anyOf": [handler(core["schema"]), path]}


def exactly_one(*groups: tuple[str, ...], without: dict[str, str]) -> dict[str, Any]:
    """JSON Schema for "exactly one of these groups of keys".

    Args:
        groups: the keys that belong together.
        without: first key of a group -> another key that may not stand beside it.
    """
    branches = []
    for group in groups:
        others = {key for other in groups if other != group for key in other}
        others |= {without[group[0]]} if group[0] in without else set()
        refused = dict.fromkeys(sorted(others), False)
        branches.append({"required": list(group), "properties": refused})
    return {"oneOf": branches}


def _threshold_schemas() -> dict[str, Any]:
    schemas: dict[str, Any] = {}
    for metric, direction in vocabulary.METRICS:
        bound = "min" if direction == "higher" else "max"
        limit = {"maximum": 1} if direction == "higher" else {"minimum": 0}
        schemas[metric] = {
            "type": "object",
            "properties": {bound: {"type": "number", **limit}},
            "required": [bound],
            "additionalProperties": False,
        }
    return schemas


IDENTIFIER = r"^[^\W\d]\w*$"
Text = Annotated[str, Checked(checks.not_empty, minLength=1)]
NotEmpty = Checked(checks.not_empty, minItems=1)
Identifier = Annotated[str, Checked(checks.identifier, pattern=IDENTIFIER)]
Number = Annotated[
    int | float, PlainValidator(checks.number), WithJsonSchema({"type": "number"})
]
PositiveNumber = Annotated[
    int | float,
    PlainValidator(checks.positive_number),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0}),
]
Ratio = Annotated[
    int | float,
    PlainValidator(checks.ratio),
    WithJsonSchema({"type": "number", "minimum": 0}),
]
AbsolutePath = Annotated[str, Checked(checks.absolute_path, pattern=checks.ATC_PATH)]
DevicePath = Annotated[str, Checked(checks.device_path, pattern=checks.ATC_PATH)]
Python3 = Annotated[
    str, Checked(checks.python3, pattern=checks.ATC_PATH.replace("+$", "*/python3$"))
]
Cores = Annotated[str, Checked(checks.cores, pattern=checks.CORES)]
SshConfig = Annotated[str, Checked(checks.ssh_config, pattern=checks.ATC_PATH)]
SshHost = Annotated[str, Checked(checks.ssh_host, pattern=f"^{checks.SSH_HOST}$")]
Dimension = Annotated[
    int | str,
    PlainValidator(checks.dimension),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": -1, "not": {"const": 0}},
                {"type": "string", "pattern": f"^{checks.DIMENSION_RANGE}$"},
            ]
        }
    ),
]
Size = Annotated[
    int,
    PlainValidator(checks.size),
    WithJsonSchema({"type": "integer", "minimum": 0}),
]
RelativePath = Annotated[str, Checked(checks.relative_path, pattern=r"^[^/~\\]")]
Module = Annotated[str, Checked(checks.module, pattern=r"^[^/~\\:][^:]*\.py$")]
InputName = Annotated[str, Checked(checks.input_name, pattern=r"^[^:;,=\x00-\x1f\x7f]+$")]
ModelName = Annotated[
    str,
    Checked(
        checks.model_name,
        pattern=f"^{checks.MODEL}$",
        **{"not": {"enum": [*vocabulary.STAGES, *vocabulary.COMMANDS]}},
    ),
]
CannVersion = Annotated[str, Checked(checks.cann_version, pattern=f"^{checks.CANN}$")]
SocVersion = Annotated[
    str,
    Checked(
        checks.soc_version,
        anyOf=[{"enum": list(atc_words.SOC_VERSIONS)}, {"pattern": f"^{checks.SOC}$"}],
    ),
]
Thresholds = WithJsonSchema(
    {
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "properties": _threshold_schemas(),
            "additionalProperties": False,
            "minProperties": 1,
        },
    }
)

# The next two say in JSON Schema some of what `consistency` checks.
KNOWN_RULE_UNLESS_FILE: dict[str, Any] = {
    "if": {"properties": {"file": {"type": "string"}}, "required": ["file"]},
    "else": {"properties": {"name": {"enum": RULE_NAMES}}},
}


def names_backend(name: str) -> dict[str, Any]:
    """JSON Schema of a convert block that names this backend, alone or among others."""
    among = {"type": "array", "contains": {"const": name}}
    return {
        "properties": {"backend": {"anyOf": [{"const": name}, among]}},
        "required": ["backend"],
    }


BETWEEN_BLOCKS: dict[str, Any] = {
    "allOf": [
        {
            "if": {"properties": {"convert": names_backend("cann")}},
            "else": {
                "properties": {
                    block: {"properties": {key: {"type": "null"} for key in keys}}
                    for block, keys in OF_A_DEVICE
                }
            },
        },
        {
            "if": {"properties": {"source": {"required": ["onnx"]}}},
            "then": {"properties": {"export": {"type": "null"}}},
        },
        {
            "if": {
                "properties": {
                    "gate": {
                        "properties": {"metric": {"type": "object"}},
                        "required": ["metric"],
                    }
                },
                "required": ["gate"],
            },
            "then": {"required": ["evaluate"]},
        },
    ]
}
