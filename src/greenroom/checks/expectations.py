"""What a healthy machine looks like: thresholds from expected/*.toml, each with the source of its number.

``default.toml`` declares every threshold there is (kind, unit, meaning); the file of a GPU model and
then the site's own file lay values over it.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("expected")
KINDS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "count": (int, "a whole number"),
    "number": ((int, float), "a number"),
    "text": (str, "a text"),
    "texts": (list, "a list of texts"),
    "yes-no": (bool, "true or false"),
}
Value = int | float | str | bool | list[str]


class ExpectedWrong(ValueError):
    """A file of expectations is wrong; the text names file and field."""

    is_config = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """One expectation."""

    name: str
    kind: str
    unit: str
    meaning: str
    value: Value | None
    """None: nothing is expected."""
    source: str

    @property
    def text(self) -> str:
        """Value and unit, for a finding."""
        return f"{self.value} {self.unit}".strip()


@dataclass(frozen=True, slots=True)
class Expected:
    """Thresholds by name. Asking for one that is not declared is a bug of the check."""

    thresholds: Mapping[str, Threshold]

    def __getitem__(self, name: str) -> Threshold:
        return self.thresholds[name]

    def number(self, name: str) -> float | None:
        """Value of a count or number, None if nothing is expected."""
        value = self[name].value
        assert value is None or isinstance(value, (int, float)), name
        return value

    def texts(self, name: str) -> list[str]:
        """Value of a list, empty if nothing is expected."""
        value = self[name].value
        assert value is None or isinstance(value, list), name
        return value or []

    def only(self, names: Iterable[str]) -> Expected:
        """Just these: a check is handed what it declares to expect."""
        return Expected({name: self.thresholds[name] for name in names})

    def with_value(self, name: str, value: Value, *, source: str) -> Expected:
        """Another value for one threshold."""
        return Expected({**self.thresholds, name: replace(self[name], value=value, source=source)})


def load_expected(*, gpu_names: Iterable[str] = (), site_file: Path | None = None) -> Expected:
    """Defaults, then the file of the GPU model (if all GPUs are of it), then the site's file.

    Raises:
        ExpectedWrong: the site's file cannot be read or has a wrong field.
    """
    declared = _read_toml(FOLDER / "default.toml")
    expected = Expected(
        {
            f"{group}.{name}": _declare(f"{group}.{name}", row)
            for group, rows in declared.items()
            for name, row in rows.items()
        }
    )
    model = pick_model_file(gpu_names)
    for path in filter(None, (model, site_file)):
        expected = _lay_over(expected, path)
    return expected


def pick_model_file(gpu_names: Iterable[str]) -> Path | None:
    """The file whose longest ``match`` is in the name that all GPUs share; None if there is none."""
    names = set(gpu_names)
    if len(names) != 1:
        return None
    name = names.pop().lower()
    best: tuple[int, Path | None] = (0, None)
    for path in model_files():
        machine = _read_toml(path).get("machine", {})
        if any(word.lower() in name for word in machine.get("except", ())):
            continue
        for word in machine.get("match", ()):
            if word.lower() in name and len(word) > best[0]:
                best = (len(word), path)
    return best[1]


def model_files() -> list[Path]:
    """The files of GPU models."""
    return sorted(path for path in FOLDER.glob("*.toml") if path.stem != "default")


def _declare(name: str, row: dict[str, Any]) -> Threshold:
    return Threshold(
        name=name,
        kind=row["kind"],
        unit=row.get("unit", ""),
        meaning=row["meaning"],
        value=row.get("value"),
        source=row.get("source", ""),
    )


def _lay_over(expected: Expected, path: Path) -> Expected:
    thresholds = dict(expected.thresholds)
    for group, rows in _read_toml(path).items():
        if group == "machine":
            continue
        if not isinstance(rows, dict):
            raise ExpectedWrong(f"{path}: {group}: expected a table such as [gpu], got {rows!r:.60}")
        for field, row in rows.items():
            name = f"{group}.{field}"
            if name not in thresholds:
                raise ExpectedWrong(
                    f"{_at(path, field)}: {name}: no such expectation{_nearest(name, thresholds)}"
                )
            value, source = (row.get("value"), row.get("source")) if isinstance(row, dict) else (row, None)
            known = thresholds[name]
            if not _fits(value, known.kind):
                raise ExpectedWrong(
                    f"{_at(path, field)}: {name}: expected {KINDS[known.kind][1]}, got {value!r:.60}"
                )
            thresholds[name] = replace(known, value=value, source=source or str(path))
    return Expected(thresholds)


def _fits(value: object, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "yes-no"
    if isinstance(value, list) and not all(isinstance(item, str) for item in value):
        return False
    return isinstance(value, KINDS[kind][0])


def _nearest(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _at(path: Path, field: str) -> str:
    """File and line of a field; TOML's reader does not keep lines, so the first that names it."""
    pattern = re.compile(rf"\s*\[?([\w.]+\.)?{re.escape(field)}\s*[=\]]")
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if pattern.match(line):
            return f"{path}:{number}"
    return str(path)


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ExpectedWrong(f"{path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ExpectedWrong(f"{path}: {error}") from error
