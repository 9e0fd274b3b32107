# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a benchmark found, as a table, as JSON and as a plot."""

from dataclasses import dataclass, field

WIDTH = 60  # of the names


@dataclass(frozen=True)
class Verdict:
    """A figure that the project has set itself a limit for; usually ours divided by a peer's."""

    name: str
    value: float | None  # None: not measured here
    limit: float | None = None
    unit: str = ""  # empty: a ratio

    def __str__(self) -> str:
        if self.value is None:
            return "not measured here"
        number = str(self.value) if isinstance(self.value, int) else f"{self.value:.3g}"
        text = f"{number}{' ' + self.unit if self.unit else ''}"
        if self.limit is None:
            return text
        unit = f" {self.unit}" if self.unit else ""
        return f"{text:14} target: at most {self.limit:g}{unit}, {'met' if self.met else 'NOT MET'}"

    @property
    def met(self) -> bool | None:
        return None if self.value is None or self.limit is None else self.value <= self.limit

    def as_json(self) -> dict:
        return {"value": self.value, "limit": self.limit, "unit": self.unit or "ratio", "met": self.met}


@dataclass
class Report:
    what: str
    unit: str
    figures: list[tuple[str, float | None]] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    counts: dict[str, dict[str, float | None]] = field(default_factory=dict)  # per frame, from outside
    notes: list[str] = field(default_factory=list)

    def text(self) -> str:
        lines = [f"  {name:{WIDTH}} {'-' if value is None else format(value, '9.3f')} {self.unit}"
                 for name, value in self.figures]
        lines += ["", *self._counts()] if self.counts else []
        lines += [""] if self.verdicts else []
        lines += [f"  {verdict.name:{WIDTH}} {verdict}" for verdict in self.verdicts]
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)

    def _counts(self) -> list[str]:
        heads = list(next(iter(self.counts.values())))
        lines = [f"  {'per frame, counted from outside':{WIDTH}} " + " ".join(f"{head:>12}" for head in heads)]
        for name, row in self.counts.items():
            lines.append(f"  {name:{WIDTH}} " + " ".join(
                f"{'-' if row[head] is None else format(row[head], '.2f'):>12}" for head in heads))
        return lines

    def as_json(self) -> dict:
        return {"what": self.what, "unit": self.unit, "figures": dict(self.figures), "counts": self.counts,
                "targets": {verdict.name: verdict.as_json() for verdict in self.verdicts}, "notes": self.notes}
