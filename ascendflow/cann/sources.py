"""What the names mean that stand where a deviation says in what it was read."""

from __future__ import annotations

SOURCES = {
    "canndev": "Ascend's operator repository from 2020-12 to 2022-06, by its dates CANN "
    "5.0 to 6.0.RC1: plugins of the ONNX parser, fusion passes, kernels",
    "ops-nn, ops-cv, ops-math": "the open operator repositories, CANN 8.5.0 to master; not "
    "whole, so what is absent there proves nothing",
    "GE": "the open graph engine, CANN 8.5.0 to master: ATC's options, the ONNX parser, "
    "the choice of types",
    "CANN 8.1.RC1": "files of that toolkit as installed: kernels in Python, tables of "
    "their types, configurations; its parser is a binary and was not read",
    "CANN runtime": "source and documents of the runtime",
    "AscendC": "documents of the language of kernels",
    "msit": "Ascend's tools for debugging and rewriting models",
    "ModelZoo-PyTorch": "Ascend's recipes for models: what people do before ATC",
    "none": "nothing that we could read says it",
    "OWNER/NAME#1": "an issue or a pull request on GitHub",
}
"""How a source begins -> what it is."""
