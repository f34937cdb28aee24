"""What a model is built for: a CANN version, a SoC and precision settings, looked up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ascendflow.cann import precision, settings
from ascendflow.cann import profile as profiles
from ascendflow.cann import soc as socs
from ascendflow.cann.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    import onnx_ir as ir

    from ascendflow.cann.deviations.deviation import Conditions
    from ascendflow.cann.profile import Profile
    from ascendflow.cann.soc import Soc
    from ascendflow.cann.types import Choice


def why_refused(config: Mapping[str, Any]) -> str | None:
    """Return why nothing is known of a target, or ATC refuses it, by its names; or None.

    Args:
        config: what `Target.of` reads, as a manifest spells it.
    """
    chip = config["soc_version"]
    return (
        profiles.why_not_modelled(config["cann"])
        or socs.why_not_modelled(chip)
        or precision.why_not_modelled(config["precision_mode"], socs.soc(chip))
        or settings.why_refused(config)
    )


@dataclass(frozen=True)
class Target:
    """What the manifest's `convert` block asks for.

    Attributes:
        profile: the CANN version.
        soc: the SoC's family.
        settings: all that is said of precision.
    """

    profile: Profile
    soc: Soc
    settings: Settings = field(default_factory=Settings)

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> Target:
        """Look up `cann`, `soc_version`, `precision_mode` and what goes with it.

        `why_refused` says whether it can be done.

        Raises:
            ValueError: the CANN version is not modelled.
            KeyError: the SoC is not modelled.
        """
        return cls(
            profiles.profile(config["cann"]),
            socs.soc(config["soc_version"]),
            Settings.of(config),
        )

    def conditions(
        self,
        *,
        half: bool,
        choices: Mapping[ir.Node, Choice] | None = None,
        alternative: int = 0,
        all_weights: bool = False,
    ) -> Conditions:
        """Return what deviations are asked with; `half`: the node gets fp16."""
        # Brings all deviations and onnx-ir with it, which who plans can do without.
        from ascendflow.cann.deviations.deviation import Conditions

        return Conditions(
            self.profile,
            self.soc,
            half,
            choices={} if choices is None else choices,
            settings=self.settings,
            alternative=alternative,
            all_weights=all_weights,
        )
