from __future__ import annotations

import pytest

from ascendflow.cache import machine

# What Linux shows for these CPUs, shortened to what psABI table 3.1 asks for and a bit.
NEHALEM = "fpu sse sse2 ht pni ssse3 cx16 sse4_1 sse4_2 popcnt lahf_lm"
HASWELL = NEHALEM + " avx f16c fma movbe xsave abm bmi1 avx2 bmi2"
SKYLAKE_X = HASWELL + " avx512f avx512dq avx512cd avx512bw avx512vl"


@pytest.mark.parametrize(
    ("flags", "level"),
    [
        pytest.param(NEHALEM, "x86-64-v2", id="nehalem"),
        pytest.param(HASWELL, "x86-64-v3", id="haswell"),
        pytest.param(SKYLAKE_X, "x86-64-v4", id="skylake-x"),
        pytest.param(SKYLAKE_X.replace(" avx512bw", ""), "x86-64-v3", id="knights-landing"),
        pytest.param(HASWELL.replace(" fma", ""), "x86-64-v2", id="without-fma"),
        pytest.param("fpu sse sse2", "unknown", id="first-x86-64"),
        pytest.param("fp asimd evtstrm aes", "unknown", id="aarch64"),
        pytest.param("", "unknown", id="none"),
    ],
)
def test_the_level_is_the_highest_whose_flags_are_all_there(flags: str, level: str) -> None:
    assert machine.isa_level(frozenset(flags.split())) == level


def test_flags_are_those_of_the_first_cpu_and_not_the_vmx_flags() -> None:
    first = "processor\t: 0\nvmx flags\t: vnmi\nflags\t\t: fpu sse2\n\n"
    text = first + "processor\t: 1\nflags\t\t: x\n"

    assert machine.cpu_flags(text) == {"fpu", "sse2"}
    assert machine.cpu_flags("processor\t: 0\nFeatures\t: fp asimd\n") == frozenset()


def test_the_isa_counts_only_where_floats_are_computed() -> None:
    assert machine.describe(floats=True).keys() == {"os", "machine", "isa"}
    assert machine.describe(floats=False).keys() == {"os", "machine"}


def test_a_machine_without_proc_is_unknown_and_no_error() -> None:
    assert machine._first_cpu("/nowhere/cpuinfo") == ""
