from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from ascendflow.build.judge import input_digests
from ascendflow.build.warned import recorded_warnings, warnings_document
from ascendflow.cache.digest import digest_bytes

if TYPE_CHECKING:
    from tests.workshops import Workshop

BEFORE = ("rewrite", "convert", "gate")


@pytest.fixture
def built(workshop: Workshop) -> Workshop:
    workshop.change("report", warnings_of=BEFORE)
    workshop.bring_up(*BEFORE, "report")
    return workshop


def test_warnings_of_the_stages_before_are_an_input_in_their_order(built: Workshop) -> None:
    document = warnings_document(built.project, built.plan, BEFORE)
    report = built.plan.stage("report")

    assert document is not None
    assert json.loads(document) == {
        "schema_version": 1,
        "warnings": [{"stage": name, "text": f"{name} warned"} for name in BEFORE],
    }
    digests = input_digests(built.project, built.plan, report)
    assert digests["warnings.json"] == digest_bytes(document)
    assert built.reasons("report") == []


def test_another_warning_alone_makes_the_report_stale_and_nothing_else(
    built: Workshop,
) -> None:
    path = built.path("convert/record.json")
    path.write_text(path.read_text().replace("convert warned", "convert is worried"))

    assert [built.reasons(name) for name in BEFORE] == [[], [], []]
    (reason,) = built.reasons("report")
    assert reason.startswith("input warnings.json changed: ")


def test_a_stage_without_a_record_is_a_missing_input(built: Workshop) -> None:
    built.path("rewrite/record.json").unlink()

    assert recorded_warnings(built.project, built.plan, "rewrite", {}) is None
    assert built.reasons("report") == ["input warnings.json is missing"]


def test_report_of_one_backend_is_told_the_same_as_if_there_were_no_other(
    built: Workshop,
) -> None:
    alone = warnings_document(built.project, built.plan, ("rewrite", "convert"))
    shutil.copytree(built.path("convert"), built.path("convert@cann"))

    among = warnings_document(built.project, built.plan, ("rewrite", "convert@cann"))

    assert among == alone
