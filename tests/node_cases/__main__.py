"""ONNX's own cases: `python -m tests.node_cases`, then nothing, `write`, or a case's name.

Alone it prints the page; `write` puts it into docs/ unless something got worse; a name
says how that case ends under both targets.
"""

from __future__ import annotations

import sys

from tests.node_cases import cases, wheel
from tests.node_cases.judge import EXACT, HALF, judge
from tests.node_cases.survey import Survey, worse
from tests.wheels import REPOSITORY

PAGE = REPOSITORY / "docs" / "backend-tests.md"


def main(what: str = "") -> int:
    folder = wheel.cases_folder()
    if what not in ("", "write"):
        case = cases.read(folder, what)
        for config in (EXACT, HALF):
            outcome = judge(case, config)
            sys.stdout.write(f"{config['soc_version']}: {outcome.how}: {outcome.why}\n")
        return 0
    survey = Survey.of(folder)
    page = survey.page()
    if what != "write":
        sys.stdout.write(page)
        return 0
    problems = survey.faults
    if PAGE.exists():
        problems += worse(PAGE.read_text(), page)
    sys.stderr.write("".join(f"{problem}\n" for problem in problems))
    if not problems:
        PAGE.write_text(page)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
