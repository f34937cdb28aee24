"""Why a stage must run, from a closed set of kinds, each said in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from ascendflow.cache.digest import canonical_json, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ascendflow.documents.record import Fingerprint, Output, Reads

Kind = Literal[
    "never_built",
    "failed",
    "withdrawn",
    "absent",
    "record_unreadable",
    "schema",
    "stage",
    "code",
    "python",
    "config",
    "input",
    "input_missing",
    "tool",
    "environment",
    "platform",
    "seed",
    "read_changed",
    "read_gone",
    "read_appeared",
    "listing_changed",
    "distribution",
    "output_modified",
    "output_missing",
    "saved_value_lost",
    "forced",
]
KINDS: tuple[Kind, ...] = get_args(Kind)

_SUBJECTS = {"config.users_code": "your code"}
"""Subjects that are no key of a manifest, in a reader's words."""

AUTO_SUBJECT = "config.auto"

LONGEST = 60
"""Longest value that is shown whole."""


class StaleReason(NamedTuple):
    """One reason.

    Attributes:
        kind: which of KINDS.
        subject: what changed, as in the sentence: `config.precision_mode`, `torch`.
        old: the value in the record, as it is shown; None where there was none.
        new: the value now; None where there is none.
        is_item: it is an item that a list has no more, or has now.
    """

    kind: Kind
    subject: str = ""
    old: str | None = None
    new: str | None = None
    is_item: bool = False

    def __str__(self) -> str:
        """Say it in one line; who prints it puts the stage in front."""
        subject = _SUBJECTS.get(self.subject, self.subject)
        subject = f"{subject}:" if self.is_item else subject
        return _SENTENCES[self.kind].format(subject=subject, change=self._change())

    def _change(self) -> str:
        if self.old is None:
            return f"added {self.new}" if self.is_item else f"is new: {self.new}"
        if self.new is None:
            return f"removed {self.old}" if self.is_item else f"is gone, was {self.old}"
        return f"changed: {self.old} -> {self.new}"


_SENTENCES: dict[Kind, str] = {
    "never_built": "never built",
    "failed": "its last run failed{subject}",
    "withdrawn": "taken out when {subject} ran",
    "absent": "its outputs are not in build/",
    "record_unreadable": "its record cannot be read: {subject}",
    "schema": "schema of {subject} {change}",
    "stage": "stage {change}",
    "code": "code of ascendflow {change}",
    "python": "python {change}",
    "config": "{subject} {change}",
    "input": "input {subject} {change}",
    "input_missing": "input {subject} is missing",
    "tool": "tool {subject} {change}",
    "environment": "environment variable {subject} {change}",
    "platform": "platform.{subject} {change}",
    "seed": "seed {change}",
    "read_changed": "{subject}, which it read, {change}",
    "read_gone": "{subject}, which it read, is gone",
    "read_appeared": "{subject}, which it looked for in vain, is there now",
    "listing_changed": "the names in folder {subject} changed",
    "distribution": "distribution {subject} {change}",
    "output_modified": "output {subject} was modified after it was built",
    "output_missing": "output {subject} is missing",
    "saved_value_lost": "doit has no saved value for it, or another one",
    "forced": "forced",
}

_COMPONENTS: dict[str, tuple[Kind, str]] = {
    "schema": ("schema", "the fingerprint"),
    "stage": ("stage", ""),
    "code": ("code", ""),
    "python": ("python", ""),
    "config": ("config", "config"),
    "inputs": ("input", ""),
    "tools": ("tool", ""),
    "environment": ("environment", ""),
    "platform": ("platform", ""),
    "seed": ("seed", ""),
}
"""Component -> the kind of its reasons, and what their subjects begin with."""


def compare_fingerprints(old: Fingerprint, new: Fingerprint) -> tuple[StaleReason, ...]:
    """Say what differs between two fingerprints, component by component.

    Config is compared down to the leaf. Empty if, and only if, their digests are equal.
    """
    return tuple(_fingerprint_reasons(old, new))


def compare_reads(old: Reads, new: Reads) -> tuple[StaleReason, ...]:
    """Say what differs between the reads of a record and the same reads now."""
    return tuple(_read_reasons(old, new))


def compare_outputs(
    old: Mapping[str, Output], new: Mapping[str, Output | None]
) -> tuple[StaleReason, ...]:
    """Say which recorded outputs are not what was built; None is one that is missing."""
    return tuple(
        StaleReason("output_missing", role)
        if (now := new.get(role)) is None
        else StaleReason(
            "output_modified", role, short(built["digest"]), short(now["digest"])
        )
        for role, built in sorted(old.items())
        if (now := new.get(role)) is None or now["digest"] != built["digest"]
    )


def _fingerprint_reasons(
    old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[StaleReason]:
    for name in [*_COMPONENTS, *sorted((old.keys() | new.keys()) - _COMPONENTS.keys())]:
        kind, subject = _COMPONENTS.get(name, ("schema", f"the fingerprint.{name}"))
        yield from _differences(
            kind, subject, old.get(name, _NOTHING), new.get(name, _NOTHING)
        )


class _Nothing:
    """Stands for a value that is not there; None is a value."""


_NOTHING = _Nothing()


def _differences(
    kind: Kind, subject: str, old: object, new: object
) -> Iterator[StaleReason]:
    """Go down to the leaves that differ; of lists of unequal length, to their items."""
    if subject == AUTO_SUBJECT and isinstance(old or new, dict) and (not old or not new):
        # A manifest writes it among its rules; the slice has the target in its place.
        gone, come = ("'auto'" if side else None for side in (old, new))
        yield StaleReason(kind, "config.rules", gone, come, is_item=True)
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            inner = f"{subject}.{key}" if subject else key
            yield from _differences(
                kind, inner, old.get(key, _NOTHING), new.get(key, _NOTHING)
            )
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield from _items(kind, subject, old, new)
            return
        for position, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from _differences(kind, f"{subject}[{position}]", before, after)
    elif _differ(old, new):
        yield StaleReason(kind, subject, _shown(old), _shown(new))


def _items(
    kind: Kind, subject: str, old: list[object], new: list[object]
) -> Iterator[StaleReason]:
    """Say which items went and came; at least one did, as one list is the longer."""
    for item in _without(old, new):
        yield StaleReason(kind, subject, old=_shown(item), is_item=True)
    for item in _without(new, old):
        yield StaleReason(kind, subject, new=_shown(item), is_item=True)


def _without(items: list[object], others: list[object]) -> Iterator[object]:
    """Yield the items that `others` has not, one for one."""
    left = [canonical_json(other) for other in others]
    for item in items:
        if (spelled := canonical_json(item)) in left:
            left.remove(spelled)
        else:
            yield item


def _differ(old: object, new: object) -> bool:
    """Whether the digests differ: 1, 1.0 and True are three values there."""
    if _NOTHING in (old, new):
        return old is not new
    return canonical_json(old) != canonical_json(new)


def _shown(value: object) -> str | None:
    if value is _NOTHING:
        return None
    if isinstance(value, str) and value.startswith("sha256:"):
        return short(value)
    text = repr(_said(value))
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def _said(value: object) -> object:
    """Leave out of a mapping what is None: what nobody asked for."""
    if isinstance(value, dict):
        return {key: _said(inner) for key, inner in value.items() if inner is not None}
    return [_said(inner) for inner in value] if isinstance(value, list) else value


def _read_reasons(old: Reads, new: Reads) -> Iterator[StaleReason]:
    for name, before in sorted(old["files"].items()):
        after = new["files"].get(name, "missing")
        if before != after:
            kind: Kind = "read_gone" if after == "missing" else "read_changed"
            yield StaleReason(kind, name, short(before), short(after))
    for name, before in sorted(old["folders"].items()):
        after = new["folders"].get(name, "missing")
        if before != after:
            kind = "read_gone" if after == "missing" else "listing_changed"
            yield StaleReason(kind, name, short(before), short(after))
    for name in sorted(set(old["missing"]) - set(new["missing"])):
        yield StaleReason("read_appeared", name)
    for name in sorted(old["distributions"].keys() | new["distributions"].keys()):
        versions = old["distributions"].get(name), new["distributions"].get(name)
        if versions[0] != versions[1]:
            yield StaleReason("distribution", name, *versions)
