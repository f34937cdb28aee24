"""Layouts are those of public reports; the devices in them are made up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascendflow.doctor.npu_smi import MOST_CHIPS, Chip, read_listing
from tests.hosts import LISTING

OLD_310 = """\
| npu-smi 21.0.3.1                     Version: 21.0.3.1                       |
| NPU     Name      | Health          | Power(W)          Temp(C)              |
| Chip    Device    | Bus-Id          | AICore(%)         Memory-Usage(MB)     |
+===================+=================+========================================+
| 1       310       | OK              | 12.8              49                   |
| 0       0         | 0000:01:00.0    | 0                 2621 / 8192          |
+-------------------+-----------------+----------------------------------------+
| 1       310       | Warning         | 12.8              49                   |
| 1       1         | NA              | 0                 2621 / 8192          |
"""
A2 = """\
| npu-smi 25.3.rc1                 Version: 25.3.rc1                                       |
| NPU   Name                | Health        | Power(W)    Temp(C)      Hugepages-Usage(page|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)  |
+===========================+===============+==============================================+
| 12    910B2C              | OK            | 91.3        53                0    / 0       |
| 0                         | 0000:D9:00.0  | 0           0    / 0          52675/ 65536   |
+===========================+===============+==============================================+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)|
+===========================+===============+==============================================+
| 12      0                 | 12345         | python                   | 49000             |
"""
A3 = """\
| npu-smi 26.0.rc2                            Version: 26.0.rc2                            |
| NPU   Name                | Health        | Power(W)    Temp(C)      Hugepages-Usage(page|
| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)  |
+===========================+===============+==============================================+
| 0     Ascend910           | OK            | 162.6       34                0    / 0       |
| 0     0                   | 0000:9D:00.0  | 0           0    / 0          3419 / 65536   |
+------------------------------------------------------------------------------------------+
| 0     Ascend910           | OK            | -           34                0    / 0       |
| 1     1                   | 0000:9F:00.0  | 0           0    / 0          2874 / 65536   |
"""
SPACED = """\
| npu-smi 21.0.2                  Version: 21.0.2                                          |
| 0       Ascend 910B4          | Critical        | 110.0             45                   |
| 0       0-0                   | 0000:C1:00.0    | 0                 0 / 32768            |
"""
NO_SECOND_ROWS = """\
| 0     310P3          | OK            | 65.8      45       0/32768         0%             |
| 1     310            | OK            | 65.8      45       0/32768         0%             |
"""
FAILED = "dcmi module initialize failed. ret is -8005\n"


@pytest.mark.parametrize(
    ("text", "version", "chips"),
    [
        pytest.param(
            LISTING, "24.1.1", [Chip(0, "310P3", "OK", 0, "0000:86:00.0")], id="310P"
        ),
        pytest.param(
            OLD_310,
            "21.0.3.1",
            [Chip(1, "310", "OK", 0, "0000:01:00.0"), Chip(1, "310", "Warning", 1)],
            id="two-chips-of-a-card-whose-name-is-a-number",
        ),
        pytest.param(
            A2, "25.3.rc1", [Chip(12, "910B2C", "OK", 0, "0000:D9:00.0")], id="processes"
        ),
        pytest.param(
            A3,
            "26.0.rc2",
            [
                Chip(0, "Ascend910", "OK", 0, "0000:9D:00.0"),
                Chip(0, "Ascend910", "OK", 1, "0000:9F:00.0"),
            ],
            id="A3",
        ),
        pytest.param(
            SPACED,
            "21.0.2",
            [Chip(0, "Ascend 910B4", "Critical", 0, "0000:C1:00.0")],
            id="space",
        ),
        pytest.param(
            NO_SECOND_ROWS,
            None,
            [Chip(0, "310P3", "OK"), Chip(1, "310", "OK")],
            id="one-row-each",
        ),
        pytest.param(
            LISTING.replace("\n", "\r\n"),
            "24.1.1",
            [Chip(0, "310P3", "OK", 0, "0000:86:00.0")],
            id="crlf",
        ),
        pytest.param(FAILED, None, [], id="failed"),
        pytest.param("", None, [], id="empty"),
    ],
)
def test_every_layout_gives_its_chips(
    text: str, version: str | None, chips: list[Chip]
) -> None:
    listing = read_listing(text)

    assert listing.version == version
    assert list(listing.chips) == chips


@pytest.mark.parametrize(
    ("name", "soc_version"),
    [
        ("310P3", "Ascend310P3"),
        ("910B4", "Ascend910B4"),
        ("Ascend 910B4", "Ascend910B4"),
        ("310", "Ascend310"),
        ("Ascend910", None),  # on A3 half of the name
        ("999X", None),
    ],
)
def test_a_name_is_a_soc_version_where_it_tells(name: str, soc_version: str | None) -> None:
    assert Chip(0, name, "OK").soc_version == soc_version


def test_a_process_is_no_chip() -> None:
    card = "| 3     310P3          | OK            | 65.8 |\n"

    assert read_listing(card + A2[A2.index("| NPU     Chip") :]).chips == (
        Chip(3, "310P3", "OK"),
    )


def test_a_list_without_end_has_one() -> None:
    row = "| 0 310P3 | OK | |\n"

    assert len(read_listing(row * (2 * MOST_CHIPS)).chips) == MOST_CHIPS


ROWS = st.lists(
    st.sampled_from(
        [*A2.splitlines(), *OLD_310.splitlines(), "| 1 | ", "||", "|", "| 0 | NA |"]
    )
)


@given(st.binary())
def test_any_bytes_give_a_list(data: bytes) -> None:
    read_listing(data.decode(errors="replace"))


@given(ROWS, st.text())
def test_any_rows_in_any_order_give_a_list(rows: list[str], noise: str) -> None:
    listing = read_listing("\n".join([*rows, noise, *rows]))

    assert all(chip.name and chip.health for chip in listing.chips)
