"""What a mutated ONNX file and its target are made from; small, so that it can be shrunk.

Each change is a number for which one and a number for where, so that dropping one leaves
the others as they are.
"""

from __future__ import annotations

import random
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from ascendflow.cann.precision import MODELLED as MODES
from ascendflow.cann.soc import MODELLED as SOCS
from tests.fuzz.graphs import SEEDS
from tests.fuzz.onnx_changes import CHANGES
from tests.fuzz.onnx_files import DAMAGES
from tests.random_models import random_model
from tests.rewriting import LOSSY

if TYPE_CHECKING:
    import onnx
    from hypothesis.strategies import SearchStrategy

Step = tuple[int, int]
"""Which change, and the number that its random choices come from."""

VERSIONS = ("6.0", "8.1", "8.5")


@dataclass(frozen=True)
class Recipe:
    """One case.

    Attributes:
        model: below `len(SEEDS)`, one of every kind; else the number of a random model.
        longest: how many nodes a random model may have.
        changes: of the message.
        damages: of its bytes.
        soc_version: SoC of the target.
        precision_mode: of the target.
        cann: version of the target.
        lossy: a lossy rule, tried alone.
    """

    model: int
    longest: int
    changes: tuple[Step, ...]
    damages: tuple[Step, ...]
    soc_version: str
    precision_mode: str
    cann: str
    lossy: str

    @classmethod
    def of(cls, said: dict[str, Any]) -> Recipe:
        """Read what `to_json` wrote."""
        steps = {key: tuple(map(tuple, said[key])) for key in ("changes", "damages")}
        return cls(**{**said, **steps})

    @classmethod
    def numbered(cls, number: int) -> Recipe:
        """Make up recipe `number`, to fuzz for longer than a test does."""
        rng = random.Random(number)  # noqa: S311 - to be repeated
        changes = [_drawn(rng, len(CHANGES)) for _ in range(rng.choice((1, 1, 2, 3)))]
        damages = [_drawn(rng, len(DAMAGES)) for _ in range(rng.choice((0, 0, 0, 1, 3)))]
        return cls(
            model=rng.choice((rng.randrange(len(SEEDS)), rng.randrange(1 << 32))),
            longest=3,
            changes=tuple(changes),
            damages=tuple(damages),
            soc_version=rng.choice(list(SOCS)),
            precision_mode=rng.choice(MODES),
            cann=rng.choice(VERSIONS),
            lossy=rng.choice(LOSSY),
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def seed(self) -> onnx.ModelProto:
        """Make the valid model."""
        if self.model < len(SEEDS):
            return SEEDS[self.model]()
        rng = random.Random(self.model)  # noqa: S311 - to be repeated
        return random_model(rng, longest=self.longest).model()


def recipes() -> SearchStrategy[Recipe]:
    """Half random models, half of every kind; one file in four with damaged bytes."""
    kinds = st.integers(0, len(SEEDS) - 1)
    changes, damages = _steps(len(CHANGES)), _steps(len(DAMAGES))
    sound: SearchStrategy[tuple[Step, ...]] = st.just(())
    return st.builds(
        Recipe,
        model=kinds | st.integers(len(SEEDS), (1 << 32) - 1),
        longest=st.integers(1, 3),
        changes=changes,
        damages=st.integers(0, 3).flatmap(lambda n: damages if n == 3 else sound),
        soc_version=st.sampled_from(list(SOCS)),
        precision_mode=st.sampled_from(MODES),
        cann=st.sampled_from(VERSIONS),
        lossy=st.sampled_from(LOSSY),
    )


def _steps(kinds: int) -> SearchStrategy[tuple[Step, ...]]:
    step = st.tuples(st.integers(0, kinds - 1), st.integers(0, (1 << 16) - 1))
    return st.lists(step, min_size=1, max_size=3).map(tuple)


def _drawn(rng: random.Random, kinds: int) -> Step:
    return rng.randrange(kinds), rng.randrange(1 << 16)
