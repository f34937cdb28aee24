"""JSON Schemas of models whose fields are described by the docstrings below them.

pydantic can read those itself, while it makes a class: half of the time that it takes to
make the manifest's, in every run that loads one, for texts that only the schema needs.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from itertools import pairwise
from typing import TYPE_CHECKING

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import core_schema


class Described(GenerateJsonSchema):
    """Adds the docstrings to what pydantic makes of a model."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Return the model's schema, each property with its description."""
        made = super().model_schema(schema)
        for name, text in _field_docs(schema["cls"]):
            if (field := made["properties"].get(name)) is not None:
                field.setdefault("description", text)
        return made


def _field_docs(model: type) -> Iterator[tuple[str, str]]:
    """Yield (field, the docstring below it), those of the model itself first."""
    for cls in model.__mro__:
        if issubclass(cls, BaseModel) and cls is not BaseModel:
            tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
            for definition in tree.body:
                if isinstance(definition, ast.ClassDef):
                    yield from _docs_below(definition.body)


def _docs_below(statements: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for statement, below in pairwise(statements):
        match statement, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, inspect.cleandoc(text)
