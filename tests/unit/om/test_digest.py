"""The normalised digest: the same for builds of one model, another for any other."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest

from tests import om_files
from tests.om_files import (
    COMMAND,
    FLOW_SUBMODEL,
    KERNELS,
    MESSAGE,
    MODEL_DEF,
    SO_BINS,
    TASKS,
    WEIGHTS,
    attr,
    desc,
    graph,
    kernels,
    libraries,
    model_def,
    op,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ascendflow.documents.inspection import Inspection

Parts = list[tuple[int, bytes]]

ATTRIBUTES = {"a": 1, "b": "two", "c": [3]}
BACKWARDS = dict(reversed(ATTRIBUTES.items()))


def nodes(values: dict[str, Any]) -> list[Any]:
    described = desc(1, [1, 3], attr=om_files.attrs(values))
    return [
        op("x", "Data", values, output_desc=[described]),
        op("y", "Relu", values, input_desc=[described]),
    ]


def definition(values: dict[str, Any] = ATTRIBUTES, **more: Any) -> tuple[int, bytes]:
    inner = {**values, **more}
    return MODEL_DEF, model_def([graph("g", nodes(values))], inner)


def tasks(keys: Sequence[str]) -> tuple[int, bytes]:
    entries = [MESSAGE["Entry"](key=key.encode(), value=attr(1)) for key in keys]
    written = MESSAGE["ModelTaskDef"](version="v", attr=entries, task=[b"", b"\x08\x01"])
    return TASKS, written.SerializeToString()


def rest(names: str) -> Parts:
    code = {name: name.encode() * 9 for name in names}
    return [(WEIGHTS, b"w"), (KERNELS, kernels(code)), (SO_BINS, libraries(code))]


PLAIN: Parts = [definition(atc_cmdline=COMMAND), tasks("pq"), *rest("kl")]


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param([definition(atc_cmdline="atc --x"), *PLAIN[1:]], id="command-line"),
        pytest.param([definition(), *PLAIN[1:]], id="no-command-line"),
        pytest.param([definition(BACKWARDS), *PLAIN[1:]], id="attributes"),
        pytest.param([PLAIN[0], tasks("qp"), *PLAIN[2:]], id="attributes-of-tasks"),
        pytest.param([*PLAIN[:2], *rest("lk")], id="kernels-and-libraries"),
    ],
)
def test_what_differs_from_build_to_build_is_left_out(
    inspect: Callable[[bytes], Inspection], parts: Parts
) -> None:
    first, second = (inspect(om_files.om(each)) for each in (PLAIN, parts))

    assert first["sha256"] != second["sha256"]
    assert first["normalised_sha256"] == second["normalised_sha256"]


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param([definition(soc_version="x"), *PLAIN[1:]], id="attribute"),
        pytest.param([definition({**ATTRIBUTES, "a": 2}), *PLAIN[1:]], id="deep-attribute"),
        pytest.param([definition(atc_cmdlines=COMMAND), *PLAIN[1:]], id="like-the-command"),
        pytest.param([*PLAIN[:2], (WEIGHTS, b"v"), *PLAIN[3:]], id="weights"),
        pytest.param([*PLAIN[:2], *rest("km")], id="kernel"),
        pytest.param([*PLAIN[:2], *rest("kll")[:1], *PLAIN[3:], (99, b"")], id="partition"),
        pytest.param([PLAIN[0], tasks("pr"), *PLAIN[2:]], id="task-attribute"),
        pytest.param([*PLAIN[:2], (99, b"w"), *PLAIN[3:]], id="type"),
        pytest.param([*PLAIN[:2], *PLAIN[:1:-1]], id="order-of-partitions"),
        pytest.param(
            [
                (
                    MODEL_DEF,
                    model_def(
                        [graph("g", nodes(ATTRIBUTES)[::-1])],
                        {**ATTRIBUTES, "atc_cmdline": COMMAND},
                    ),
                ),
                *PLAIN[1:],
            ],
            id="order-of-operators",
        ),
    ],
)
def test_any_other_difference_counts(
    inspect: Callable[[bytes], Inspection], parts: Parts
) -> None:
    first, second = (inspect(om_files.om(each)) for each in (PLAIN, parts))

    assert first["normalised_sha256"] != second["normalised_sha256"]


def test_padding_does_not_count_and_the_headers_name_does(
    inspect: Callable[[bytes], Inspection],
) -> None:
    plain, padded, named = (
        inspect(om_files.om(PLAIN, **more))["normalised_sha256"]
        for more in ({}, {"align": 32}, {"name": "other"})
    )

    assert plain == padded != named


def test_the_command_line_is_left_out_of_the_model_alone(
    inspect: Callable[[bytes], Inspection],
) -> None:
    digests = {
        inspect(om_files.om([definition({"atc_cmdline": text})]))["normalised_sha256"]
        for text in ("one", "two")
    }

    assert len(digests) == 2  # since the operators have it too


def test_a_swapped_pair_of_attributes_is_no_mere_order(
    inspect: Callable[[bytes], Inspection],
) -> None:
    """Two operators that swap their attributes differ, though all entries are the same."""
    digests = [
        inspect(
            om_files.om(
                [
                    (
                        MODEL_DEF,
                        model_def(
                            [
                                graph(
                                    "g",
                                    [op("x", "Relu", {"a": a}), op("y", "Relu", {"a": b})],
                                )
                            ],
                            {},
                        ),
                    )
                ]
            )
        )["normalised_sha256"]
        for a, b in ((1, 2), (2, 1))
    ]

    assert digests[0] != digests[1]


@pytest.mark.parametrize("wrap", ["bundle", "flow"])
def test_of_an_om_inside_the_same_is_left_out(
    inspect: Callable[[bytes], Inspection], wrap: str
) -> None:
    def wrapped(command: str, weights: bytes = b"w") -> str | None:
        inner = om_files.static({"atc_cmdline": command}, weights)
        if wrap == "bundle":
            return inspect(om_files.bundle(inner))["normalised_sha256"]
        sub = MESSAGE["SubmodelDef"](model_name="m", model_type="NPU", om_data=inner)
        parts = [PLAIN[0], (FLOW_SUBMODEL, sub.SerializeToString())]
        return inspect(om_files.om(parts, kind=3))["normalised_sha256"]

    assert wrapped("one") == wrapped("another")
    assert wrapped("one") != wrapped("one", b"v")


@pytest.mark.parametrize("kind", [KERNELS, SO_BINS, TASKS])
def test_a_partition_of_unknown_form_counts_byte_for_byte(
    inspect: Callable[[bytes], Inspection], kind: int
) -> None:
    digests = {
        inspect(om_files.om([PLAIN[0], (kind, data)]))["normalised_sha256"]
        for data in (b"\xff\xff12", b"\xff\xff21", b"\xff\xff2")
    }

    assert len(digests) == 3


def test_the_raw_digest_is_that_of_the_bytes(
    inspect: Callable[[bytes], Inspection],
) -> None:
    content = om_files.static(weights=bytes(range(256)) * 4100 + b"x")  # over a megabyte

    assert inspect(content)["sha256"] == hashlib.sha256(content).hexdigest()
