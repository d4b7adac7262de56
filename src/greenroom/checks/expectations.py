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
ROW = {"value": "", "warn": "", "typical": "", "source": "text", "method": "text", "nodes": "count"}
"""What a file may say of a threshold, and of which kind it is; empty: of the threshold's own."""
_PCI_ID = re.compile(r"[0-9a-f]{4}:[0-9a-f]{4}(:[0-9a-f]{4}:[0-9a-f]{4})?")
LEAST_MARGIN = 0.05
"""Own choice: nodes of one rack are too much alike for their spread alone to set a limit."""
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
    """The limit, or what must be so; None: nothing is expected."""
    source: str
    typical: Value | None = None
    """What healthy machines have; the limit is some way off."""
    warn: Value | None = None
    """Between this and the limit a reading is worth a warning and no more; None: there is no such band."""
    method: str = ""
    """How the limit follows from what was measured."""
    nodes: int = 0
    """How many machines were measured."""
    seen: str = ""
    """Where reports show it, ``check:path.of.reading``; `expect learn` goes by it. ``*`` stands for any name;
    a list of names is what the ``*`` stands for where the reading is as said, ``check:*.state=up``."""
    margin: float = LEAST_MARGIN
    """A learned limit is no nearer to the median than this part of it."""

    @property
    def text(self) -> str:
        """Value and unit, for a finding."""
        typical = f" (typical {self.typical})" if self.typical not in (None, self.value) else ""
        return f"{self.value} {self.unit}".strip() + typical


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
        changed = replace(self[name], value=value, source=source, warn=None, typical=None)
        return Expected({**self.thresholds, name: changed})


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardware:
    """What a file's ``[machine]`` is held against."""

    gpu_names: tuple[str, ...] = ()
    product: str = ""
    """Of the machine (DMI product_name)."""
    pci_ids: tuple[str, ...] = ()
    """Of each GPU on the bus, ``vendor:device:subvendor:subdevice``, hexadecimal, small letters."""


def load_expected(
    *,
    gpu_names: Iterable[str] = (),
    product: str = "",
    pci_ids: Iterable[str] = (),
    site_file: Path | None = None,
    match: bool = True,
) -> Expected:
    """Defaults, then the file of the GPU model (if all GPUs are of it), then the site's file or files.

    ``site_file`` may be a folder: its ``*.toml`` are laid over in the order of their names. A file with a
    ``[machine]`` counts only on machines that fit it; ``match=False`` takes it all the same. Where a file
    for this very hardware is found, ``gpu.model`` is the name of its GPUs.

    Raises:
        ExpectedWrong: a file of the site cannot be read or has a wrong field.
    """
    declared = _read_toml(FOLDER / "default.toml")
    expected = Expected(
        {
            f"{group}.{name}": _declare(f"{group}.{name}", row)
            for group, rows in declared.items()
            for name, row in rows.items()
        }
    )
    hardware = Hardware(gpu_names=tuple(gpu_names), product=product, pci_ids=tuple(pci_ids))
    fitting = [path for path in site_files(site_file) if fit(path, hardware) or not match]
    for path in filter(None, (pick_model_file(hardware), *fitting)):
        if hardware.gpu_names and fit(path, hardware) and "machine" in _read_toml(path):
            expected = expected.with_value("gpu.model", hardware.gpu_names[0], source=str(path))
        expected = _lay_over(expected, path)
    return expected


def pick_model_file(hardware: Hardware) -> Path | None:
    """Of the files that come with Greenroom, the one that fits the machine best; None if none does."""
    best = max(model_files(), key=lambda path: fit(path, hardware))
    return best if fit(best, hardware) else None


def fit(path: Path, hardware: Hardware) -> int:
    """How well the ``[machine]`` of a file fits: 0 not at all, else the more the better.

    Each key that is given must fit: ``match`` (a part of the name that all GPUs share, but none of
    ``except``) and ``product`` (a part of the machine's product name). ``pci_ids`` (of all GPUs,
    ``vendor:device`` or with ``:subvendor:subdevice``) stand for the name where no driver tells it, or where
    there is no ``match``. A file without ``[machine]`` fits any.
    """
    data = _read_toml(path)
    machine = data.get("machine", {})
    _check_machine(path, machine)
    scores = [0 if "machine" in data else 1]
    if "match" in machine and (hardware.gpu_names or "pci_ids" not in machine):
        scores.append(_fit_name(machine, {name.lower() for name in hardware.gpu_names}))
    elif "pci_ids" in machine:
        scores.append(_fit_ids(machine["pci_ids"], set(hardware.pci_ids)))
    if "product" in machine:
        words = (word for word in machine["product"] if word.lower() in hardware.product.lower())
        scores.append(max(map(len, words), default=0))
    return sum(scores) if all(scores[1:]) else 0


def _fit_name(machine: Mapping[str, list[str]], names: set[str]) -> int:
    name = names.pop() if len(names) == 1 else ""
    if any(word.lower() in name for word in machine.get("except", ())):
        return 0
    return max((len(word) for word in machine["match"] if word.lower() in name), default=0)


def _fit_ids(known: Iterable[str], seen: set[str]) -> int:
    """The least exact of the ids that the GPUs need; 0: one of them fits none."""
    fits = [max((len(one) for one in known if f"{gpu}:".startswith(f"{one}:")), default=0) for gpu in seen]
    return min(fits, default=0)


def _check_machine(path: Path, machine: object) -> None:
    keys = ("match", "except", "product", "pci_ids")
    if not isinstance(machine, dict):
        raise ExpectedWrong(f"{_at(path, 'machine')}: machine: expected a table, got {machine!r:.60}")
    for key, words in machine.items():
        if key not in keys:
            raise ExpectedWrong(f"{_at(path, key)}: machine.{key}: unknown key; expected {', '.join(keys)}")
        if not isinstance(words, list) or not all(isinstance(word, str) and word for word in words):
            raise ExpectedWrong(
                f"{_at(path, key)}: machine.{key}: expected a list of texts, got {words!r:.60}"
            )
        if key == "pci_ids" and (odd := [word for word in words if not _PCI_ID.fullmatch(word)]):
            raise ExpectedWrong(
                f"{_at(path, key)}: machine.pci_ids: expected vendor:device such as 10de:2330, or"
                f" vendor:device:subvendor:subdevice, got {odd[0]!r:.60}"
            )


def site_files(path: Path | None) -> list[Path]:
    """The site's file, or the ``*.toml`` of its folder in the order of their names."""
    if path is None:
        return []
    if not path.is_dir():
        return [path]
    inside = sorted(path.glob("*.toml"))
    if not inside:
        raise ExpectedWrong(f"{path}: no *.toml in this folder")
    return inside


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
        seen=row.get("seen", ""),
        margin=row.get("margin", LEAST_MARGIN),
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
            thresholds[name] = _change(thresholds[name], row, path, _at(path, field))
    return Expected(thresholds)


def _change(known: Threshold, row: object, path: Path, where: str) -> Threshold:
    """The threshold with what a file says of it: a value, or a table that also says how it was found."""
    fields = row if isinstance(row, dict) else {"value": row}
    if odd := sorted(set(fields) - set(ROW)):
        raise ExpectedWrong(f"{where}: {known.name}: unknown key {odd[0]}; expected {', '.join(ROW)}")
    for key in dict.fromkeys(("value", *fields)):
        kind = ROW[key] or known.kind
        if not _fits(fields.get(key), kind):
            name = known.name if key == "value" else f"{known.name}.{key}"
            raise ExpectedWrong(f"{where}: {name}: expected {KINDS[kind][1]}, got {fields.get(key)!r:.60}")
    changed = replace(known, **{"source": str(path), "warn": None, "typical": None, **fields})
    warn, limit, least = changed.warn, changed.value, known.name.endswith("_min")
    if isinstance(warn, (int, float)) and isinstance(limit, (int, float)) and (warn < limit) == least:
        side = "above" if least else "below"
        raise ExpectedWrong(f"{where}: {known.name}.warn: expected {side} the limit {limit}, got {warn}")
    return changed


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
