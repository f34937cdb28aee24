from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.report.collect import collect
from ascendflow.report.lines import failure_message
from ascendflow.report.render import OPEN_NODES, TEMPLATES, render
from tests.reports import CURED, check, failed, node, passed, rule_entry, undecided

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

VOID = {"meta", "br", "line", "hr", "img"}
HOSTILE = (
    "<script>alert(1)</script>",
    "[/up3/Resize]",
    "{{ 7*7 }}",
    '" onmouseover="alert(1)',
    "</style><img src=x>",
)


class Page(HTMLParser):
    """Tags, attributes and text; refuses a page whose tags do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def _page(documents: dict[str, Any]) -> str:
    return render(collect(documents))


def _hostile(name: str) -> dict[str, Any]:
    """Return documents in which everything that a model or a user names is `name`."""
    documents = failed()
    documents["metrics.json"]["nodes"] = [
        node(name, name, [], 0.5, target_op=name, problem=problem)
        for problem in (None, name)
    ]
    documents["metrics.json"]["node_samples"] = [name]
    output = documents["metrics.json"]["outputs"][0]
    output["name"], output["problems"] = name, [{"sample": name, "problem": name}]
    verdict = documents["verdict.json"]
    verdict["checks"] = [
        check(
            "cosine_similarity", "NaN", {"min": 1}, subject=name, sample=name, problem=name
        )
    ]
    verdict["first_divergent_node"].update(name=name, op_type=name, target_op=name)
    documents["conversion.json"]["assumed"] = {name: 1}
    documents["conversion.json"]["applied"][0]["nodes"] = [name]
    documents["nodes.json"]["nodes"] = {name: {"module": name, "source": name}}
    documents["evaluation.json"]["metric"] = name
    documents["rewrite.json"]["rules"] = [
        {
            **rule_entry(CURED),
            "skipped": [{"node": name, "op_type": name, "reason": name}],
        }
    ]
    documents["warnings.json"]["warnings"] = [{"stage": "simplify", "text": name}]
    return documents


def _warned(documents: dict[str, Any]) -> dict[str, Any]:
    warning = {"stage": "samples", "text": "random inputs"}
    documents["warnings.json"]["warnings"] = [warning]
    return documents


def test_a_failed_run_is_rendered(snapshot: SnapshotAssertion) -> None:
    assert _page(_warned(failed())) == snapshot


def test_equal_reports_give_equal_bytes() -> None:
    assert _page(failed()).encode() == _page(failed()).encode()


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_text_and_nothing_else(name: str) -> None:
    harmless, hostile = Page(_page(_hostile("mask"))), Page(_page(_hostile(name)))

    assert [tag for tag, _ in hostile.tags] == [tag for tag, _ in harmless.tags]
    assert hostile.all("script") == []
    assert {key for _, a in hostile.tags for key in a} == {
        key for _, a in harmless.tags for key in a
    }
    assert "".join(hostile.text).count(name) >= 15


@pytest.mark.parametrize("documents", [failed(), passed()], ids=["failed", "passed"])
def test_the_page_needs_nothing_beside_it(documents: dict[str, Any]) -> None:
    text = _page(documents)
    page = Page(text)

    assert not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in page.tags}
    assert not re.findall(r"https?:|url\(|@import", text)
    assert all(str(a["href"]).startswith("#") for a in page.all("a"))
    policy = [meta for meta in page.all("meta") if "http-equiv" in meta]
    assert policy[0]["content"] == "default-src 'none'; style-src 'unsafe-inline'"


@pytest.mark.parametrize("documents", [failed(), passed()], ids=["failed", "passed"])
def test_the_page_can_be_read_aloud(documents: dict[str, Any]) -> None:
    page = Page(_page(documents))
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h[1-6]", tag)]
    identities = [str(a["id"]) for _, a in page.tags if "id" in a]

    assert page.all("html")[0]["lang"] == "en"
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(below - above <= 1 for above, below in pairwise(levels))
    assert all(header.get("scope") in ("row", "col") for header in page.all("th"))
    assert all(image.get("aria-label") for image in page.all("svg"))
    assert len(identities) == len(set(identities))
    named = {str(a[key]) for _, a in page.tags for key in a if key == "aria-labelledby"}
    linked = {str(a["href"])[1:] for a in page.all("a")}
    assert named | linked <= set(identities)


def test_the_emulator_is_never_called_a_measurement() -> None:
    for documents in (failed(), passed()):
        text = _page(documents).lower()

        assert "measured on a device" not in text
        assert ", measured" not in text
        assert "emulated" in text
        assert "a device run confirms" in text


def test_a_device_is_called_measured_and_not_emulated() -> None:
    documents = failed()
    documents["conversion.json"].update(backend="cann", is_real_device=True, applied=[])

    text = _page(documents)

    assert "measured on a device" in text
    assert "emulat" not in text.lower()


def test_nan_is_shown_as_a_failure() -> None:
    documents = failed()
    documents["verdict.json"]["checks"] = [
        check(
            "cosine_similarity", "NaN", {"min": 0.999}, problem="is NaN; NaN never passes"
        )
    ]

    text = _page(documents)

    row = next(line for line in text.splitlines() if '<td class="n">NaN</td>' in line)
    assert row.startswith('<tr class="off"><td class="state">failed</td>')
    assert "NaN never passes" in text


def test_a_verdict_without_checks_says_that_nothing_was_checked() -> None:
    documents = failed()
    documents["verdict.json"]["checks"] = []

    assert "Nothing was checked." in _page(documents)


def test_sub_graphs_and_one_sided_tensors_are_said_not_to_be_compared() -> None:
    text = _page(failed())

    assert "Tensors inside sub-graphs are not compared." in text
    assert "only in the simplified model" in text


def test_the_nodes_of_a_large_model_are_closed_at_first_and_take_few_bytes() -> None:
    documents = failed()
    documents["metrics.json"]["nodes"] = [
        node(f"/backbone/layer/block/Conv_{number}", "Conv", [], 0.9999, target_op="Conv2D")
        for number in range(5000)
    ]

    small, large = _page(failed()), _page(documents)

    assert f"<details open><summary>{len(failed()['metrics.json']['nodes'])} ten" in small
    assert "<details><summary>5000 tensors, 0 diverge</summary>" in large
    assert len(failed()["metrics.json"]["nodes"]) <= OPEN_NODES
    assert len(large) / 5000 < 300


def _palettes() -> list[dict[str, str]]:
    style = (TEMPLATES / "style.css.j2").read_text()
    light, dark = style.split("prefers-color-scheme: dark")
    return [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", part)) for part in (light, dark)]


def _luminance(colour: str) -> float:
    """Return the relative luminance, as WCAG 2.2 defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("palette", _palettes(), ids=["light", "dark"])
@pytest.mark.parametrize(
    ("text", "ground"),
    [
        *(("text", ground) for ground in ("bg", "card", "bad-bg", "warn-bg", "drop")),
        *(("muted", ground) for ground in ("bg", "card", "bad-bg")),
        *(("bad", ground) for ground in ("bg", "card", "bad-bg")),
        *(("good", ground) for ground in ("bg", "good-bg")),
        *(("link", ground) for ground in ("bg", "card")),
    ],
)
def test_text_stands_out_from_its_ground(
    palette: dict[str, str], text: str, ground: str
) -> None:
    lighter, darker = sorted(
        (_luminance(palette[text]), _luminance(palette[ground])), reverse=True
    )

    assert (lighter + 0.05) / (darker + 0.05) >= 4.5  # WCAG 2.2, level AA


@pytest.mark.parametrize(("cosine", "is_drawn"), [(1.0, False), (0.9999, True)])
def test_a_chart_without_a_bar_is_a_sentence(
    cosine: float,
    is_drawn: bool,
) -> None:
    documents = passed()
    documents["metrics.json"]["nodes"] = [node("/c/Conv", "Conv", ["image"], cosine)]
    page = _page(documents)

    assert ("<svg" in page) is is_drawn
    assert ("Nothing to draw" in page) is not is_drawn


def test_what_rules_did_to_the_golden_is_on_the_page() -> None:
    """RS01."""
    words = (
        f"The model was rewritten by {CURED}@1 (1 node): golden unchanged in onnxruntime."
    )

    assert words in _page(passed())
    assert "was rewritten" not in _page(failed())


def test_what_no_source_says_stands_at_the_top_of_the_page() -> None:
    page = _page(undecided())

    assert "<strong>Emulated both ways:</strong> unknown on CANN 8.1: resize-half" in page
    assert page.index("Emulated both ways") < page.index("What failed")
    assert "<strong>Possible cause:</strong> resize-half-pixel" in page
    assert "<td>unknown, both ways</td>" in page
    assert "Emulated both ways" not in _page(failed())


def test_a_lossy_cure_is_never_told_as_a_line_that_the_check_stage_refuses() -> None:
    documents = failed()
    documents["conversion.json"]["applied"][0]["rule"] = "clamp-constants"

    page, message = (
        render(collect(documents)),
        failure_message(documents["verdict.json"], collect(documents)),
    )

    line = "rewrite: {rules: [auto, clamp-constants], allow_lossy: true}"
    for told in (page, message):
        assert line in told
        assert "rules: [clamp-constants]" not in told
        assert "constants beyond 65504 become 65504" in told
