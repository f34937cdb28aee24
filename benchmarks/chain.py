"""The work that build tools are compared by: seven stages a model, each `cat`.

All tools run the same commands over the same bytes, so that only the tools differ. One
edit of a model's `rules.cfg` makes five of its seven stages run again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MB = 10**6

CHAIN = (
    ("export", ("weights.pt",)),
    ("simplify", ("export.bin",)),
    ("rewrite", ("rules.cfg", "simplify.bin")),
    ("check", ("rewrite.bin",)),
    ("convert", ("rewrite.bin",)),
    ("infer", ("convert.bin",)),
    ("compare", ("infer.bin",)),
)
"""(stage, the files that it is a copy of); it makes `<stage>.bin`."""

FIXED = ("rewrite", "check", "convert", "infer", "compare")
"""What an edit of `rules.cfg` makes run again."""


class Scheme(NamedTuple):
    """How much there is to build.

    Attributes:
        models: how many models.
        size: bytes of the first one's weights; it is the one that is edited.
        other_size: bytes of every other model's weights, which nobody reads again.
    """

    models: int
    size: int
    other_size: int = MB

    @property
    def names(self) -> list[str]:
        """The models' names; the first is the one that is edited."""
        return [f"m{number}" for number in range(self.models)]

    def write_weights(self, path: Path, model: str) -> None:
        """Write weights, other ones for each model."""
        size = self.size if model == self.names[0] else self.other_size
        block = f"{model:64}".encode() * (MB // 64)
        with path.open("wb") as file:
            for start in range(0, size, len(block)):
                file.write(block[: size - start])


class Job(NamedTuple):
    """One stage of one model, paths relative to the folder of all."""

    model: str
    stage: str
    inputs: tuple[str, ...]
    output: str

    @property
    def command(self) -> str:
        """The shell command that does it."""
        return f"sh stage.sh {self.output} {' '.join(self.inputs)}"


def jobs(scheme: Scheme) -> Iterator[Job]:
    """List all jobs, in an order in which they can run."""
    for model in scheme.names:
        for stage, names in CHAIN:
            inputs = tuple(f"models/{model}/{name}" for name in names)
            yield Job(model, stage, inputs, f"models/{model}/{stage}.bin")


def write_inputs(folder: Path, scheme: Scheme) -> None:
    """Write the script and each model's weights and rules into a folder."""
    (folder / "stage.sh").write_text('out=$1; shift\nexec cat "$@" >"$out"\n')
    for model in scheme.names:
        (folder / "models" / model).mkdir(parents=True)
        scheme.write_weights(folder / "models" / model / "weights.pt", model)
        (folder / "models" / model / "rules.cfg").write_text("rules: 0\n")


def fix(folder: Path, number: int) -> None:
    """Edit the first model's rules."""
    (folder / "models/m0/rules.cfg").write_text(f"rules: {number}\n")
