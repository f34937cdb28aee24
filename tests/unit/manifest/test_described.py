"""Held to pydantic's own reading of the docstrings below fields."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from ascendflow.manifest.described import Described


def _models(config: ConfigDict) -> type[BaseModel]:
    class Plain(BaseModel):
        """A model."""

        model_config = config

        told: int
        """What it is.

        In more than one paragraph.
        """
        untold: int
        described: int = Field(description="What `Field` says goes first.")
        """Not this."""
        last: int = 0

        def method(self) -> int:
            """No field's, whatever stands above it."""
            return self.last

    class Other(BaseModel):
        """Another, which is only referred to."""

        model_config = config

        inner: Plain
        """A reference with a text beside it."""

    class Derived(Plain):
        """Inherits fields, and tells one of them anew."""

        told: int
        """Something else."""
        others: tuple[Other, ...] = ()
        """Some."""

    namespace = {"Plain": Plain, "Other": Other}
    for model in (Other, Derived):
        model.model_rebuild(_types_namespace=namespace)
    return Derived


def test_fields_are_described_as_pydantic_would() -> None:
    plain = _models(ConfigDict())
    documented = _models(ConfigDict(use_attribute_docstrings=True)).model_json_schema()
    assert plain.model_json_schema(schema_generator=Described) == documented
    assert plain.model_json_schema() != documented
    assert documented["properties"]["told"]["description"] == "Something else."
