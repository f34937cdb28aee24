from __future__ import annotations

import warnings

import pytest

from ascendflow.pytorch.complaints import failure, tracer_warnings


class TracerWarning(Warning):
    """As torch.jit has one."""


def raised(message: str, cause: Exception | None) -> Exception:
    def stop() -> None:
        raise RuntimeError(message) from cause

    try:
        stop()
    except RuntimeError as error:
        return error
    raise AssertionError


def test_innermost_cause_is_said_and_no_advice() -> None:
    outer = raised("Failed. Next steps:\n- ...", raised("x", KeyError("relu7")))
    said = failure("dynamo", outer)

    assert said.message.startswith("torch's dynamo exporter failed at ")
    assert said.message.endswith(" (stop): KeyError: 'relu7'")


def test_colours_are_taken_out_and_the_first_line_is_kept() -> None:
    said = failure("torchscript", raised("\x1b[96mno\x1b[0m such op\nmore", None))

    assert said.message.endswith(": RuntimeError: no such op")
    assert said.hint == "the stage's log has all of it; try export.exporter: dynamo"


@pytest.mark.parametrize("exporter", ["dynamo", "torchscript"])
def test_dependence_on_values_is_never_sent_to_torchscript(exporter: str) -> None:
    inner = ValueError("Could not extract specialized integer from data-dependent u0")
    said = failure(exporter, raised("outer", inner))

    assert "torch.cond" in str(said.hint)
    assert "try export.exporter" not in str(said.hint)


def test_only_the_tracers_warnings_are_told_each_once() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            warnings.warn("Odd. Very.", TracerWarning, stacklevel=1)
        warnings.warn("old", DeprecationWarning, stacklevel=1)
        warnings.warn_explicit(
            "a value will be treated as a constant. Mind", TracerWarning, "<string>", 3
        )
    odd, frozen = sorted(tracer_warnings(caught), key=len)

    assert odd.endswith("Odd. Very.")
    assert frozen == (
        "the graph has only the value of one run on random inputs, for all inputs "
        "(torch: a value will be treated as a constant)"
    )
