"""Names that may come from anywhere."""

from __future__ import annotations

NOT_UTF8 = "~not-utf8~"
"""Becomes bytes that are no UTF-8, once the model is bytes."""
LONG = "n" * 3000
NAMES = (
    *("", " ", ".", "..", "../../out", "/abs", "a/b", "a\\b", "-n", "=", "a:b;c,d"),
    *("a\nb", "a\rb", "\x1b[31mred\x1b[0m", "\x07", "a\0b", "\x7f", "\u202e", "\ufeff"),
    *("\u2028", "<script>alert(1)</script>", "[/red]", "{{ 7 * 7 }}", "%s%n", "'\"`"),
    *(
        NOT_UTF8,
        LONG,
        "x",
        "y",
        "w",
        "\U0001f600",
        "\udfff".encode("utf-8", "ignore").decode(),
    ),
)
LOCATIONS = (
    *("../secret.bin", "./../secret.bin", "a/../../secret.bin", "{outside}/secret.bin"),
    *("..\\secret.bin", "", ".", "weights.bin/", "missing.bin", "link.bin", "model.onnx"),
    *("/etc/hostname", "/dev/zero", "~/x", "weights.bin\0", "C:\\x", "a\nb", NOT_UTF8),
)
"""Of external data; {outside} stands for the folder above the model's."""
