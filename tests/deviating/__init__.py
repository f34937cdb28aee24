"""One model, and a target, for each operator that a deviation with a cure names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.deviating.constants import large, masks, products, small
from tests.deviating.indices import indices
from tests.deviating.others import rest
from tests.deviating.pools import convolutions, pools
from tests.deviating.reductions import reductions
from tests.deviating.resizes import resizes
from tests.deviating.unregistered import unregistered

if TYPE_CHECKING:
    from tests.deviating.case import Cases

CASES: Cases = {
    **reductions(),
    **unregistered(),
    **indices(),
    **pools(),
    **convolutions(),
    **resizes(),
    **masks(),
    **large(),
    **small(),
    **products(),
    **rest(),
}
