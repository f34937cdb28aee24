"""What a deviation is: where CANN computes something else than ONNX, and what instead."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from ascendflow.cann.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import onnx_ir as ir

    from ascendflow.cann.detection import Consequence, Detection, Found
    from ascendflow.cann.profile import Profile
    from ascendflow.cann.soc import Soc
    from ascendflow.cann.types import Choice
    from ascendflow.documents.conversion import Confidence


@dataclass(frozen=True)
class Conditions:
    """What a deviation may depend on beside the node.

    Attributes:
        profile: the CANN version.
        soc: the SoC's family.
        half: the kernel of the node at hand gets its data as fp16.
        all_weights: constants of any size may be read; otherwise those in external data
            only up to a size (`graph.constants`).
        choices: the types that were chosen for each node, and why.
        settings: all that is said of precision.
        alternative: which of the behaviours that `Found` names is to be computed, 0 or 1.
    """

    profile: Profile
    soc: Soc
    half: bool
    all_weights: bool = False
    choices: Mapping[ir.Node, Choice] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)
    alternative: int = 0

    @property
    def clips_weights(self) -> bool:
        """Whether fp32 constants beyond fp16's range become +-65504, not inf.

        ATC's `--is_weight_clip` is 1 where it is not given (GE 8.5.0 to master,
        `main_impl.cc`, `constant_clip_pass.cc`). Of earlier versions nothing was read, and
        users report inf.
        """
        given = self.settings.clips_weights
        return self.profile.is_open if given is None else given


class Confidences(NamedTuple):
    """How sure a claim is, by what could be read of a CANN version.

    Attributes:
        read: up to 6.0, whose own plugins were read.
        between: after those.
        opened: from 8.5 on, whose operator repositories are open.
    """

    read: Confidence
    between: Confidence
    opened: Confidence


class Deviation(ABC):
    """One kind of difference between ONNX and CANN.

    Attributes:
        name: what lint, conversion documents and reports call it.
        consequences: what may come of it; each finding says which.
        onnx: what ONNX says, in one or two sentences.
        cann: what CANN does instead, and since or until when where it is known.
        cure: the rule that avoids it where one can, or None.
        advice: what to do about it where no rule can, in words, or None.
        source: where it was read.
        confidences: how sure it is that CANN does so; unless a deviation says otherwise as
            sure as the parser's behaviour, read in source up to 6.0 and carried on by
            operator documents and field reports, as far as it is the same in the open
            repositories.
        is_emulated: the emulation computes it, by `emulate` or by rounding to fp16; False
            for what lint only warns of, which conversion documents leave out.
    """

    name: ClassVar[str]
    consequences: ClassVar[tuple[Consequence, ...]]
    onnx: ClassVar[str]
    cann: ClassVar[str]
    cure: ClassVar[str | None]
    advice: ClassVar[str | None] = None
    source: ClassVar[str]
    confidences: ClassVar[Confidences] = Confidences("high", "medium", "medium")
    is_emulated: ClassVar[bool] = True

    def confidence(self, conditions: Conditions) -> Confidence:
        """Return how sure it is that CANN does so under `conditions`."""
        profile = conditions.profile
        if profile.is_read:
            return self.confidences.read
        return self.confidences.opened if profile.is_open else self.confidences.between


class NodeDeviation(Deviation):
    """A deviation of single nodes.

    Attributes:
        op_types: ONNX operator types of the default domain.
        models_kernel: the source says what the kernel computes for every node of these
            types, also where nothing is found; False where it only speaks of some.
    """

    op_types: ClassVar[frozenset[str]]
    models_kernel: ClassVar[bool] = False

    @abstractmethod
    def detect(self, node: ir.Node, conditions: Conditions) -> Detection:
        """Say whether CANN deviates on `node`, and why or why not.

        Args:
            node: a node of `op_types` with its `version` set to the opset it is read in;
                shapes are inferred where they can be. It may be in a subgraph.
            conditions: the target.
        """

    def emulate(self, node: ir.Node, conditions: Conditions) -> None:
        """Edit the graph so that it computes in fp32 what CANN computes for `node`.

        Called on every node of the types for which `detect` gave neither `rejected` nor
        `unknown` without behaviours, after roundings to fp16 were put behind the nodes.
        The node's outputs keep their names; other nodes are left alone.
        """


class LookedUpDeviation(Deviation):
    """A deviation that a node's operator has, whatever its domain and attributes.

    Of all of these exactly one answers for a node, so that each is looked up once.

    Attributes:
        op_types: the operators it answers for; None: all that no other one has.
    """

    op_types: ClassVar[frozenset[str] | None] = None

    @abstractmethod
    def look_up(
        self, node: ir.Node, model: ir.Model, conditions: Conditions
    ) -> Found | None:
        """Say whether CANN deviates on `node`, one of `op_types` with its `version`."""


class ModelDeviation(Deviation):
    """A deviation that no node can be asked about alone: opset, imports, names."""

    @abstractmethod
    def detect(
        self, model: ir.Model, conditions: Conditions
    ) -> Iterator[tuple[ir.Node | None, Found]]:
        """Yield what applies, with the node to blame where there is one."""
