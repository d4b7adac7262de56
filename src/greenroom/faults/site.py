"""A site's own word on faults: a TOML file laid over the catalogue, each row with its reason.

["gpu.xid.63"]
severity = "note"
comment = "our jobs run for days; resets wait for the weekly window"
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import Any

from greenroom.faults.fault import PARTS, Clears, Fault
from greenroom.model.sightings import Scope
from greenroom.model.words import Rung, Severity

_ENUMS: Mapping[str, type[StrEnum]] = {
    "severity": Severity,
    "remedy": Rung,
    "scope": Scope,
    "clears": Clears,
}
_TEXTS = ("meaning", "part", "why", "comment")
_FIELDS = (*_TEXTS, *_ENUMS, "architectures")
_NEEDED = ("meaning", "part", "severity", "remedy")
"""Without these a fault of the site's own is not whole."""


class CatalogueWrong(ValueError):
    """A site's file is wrong; the text names file, line and field and what was expected."""

    is_config = True


def read_site(paths: Iterable[Path], ours: Mapping[str, Fault]) -> dict[str, Fault]:
    """The rows that the site changes or adds; a later file is laid over an earlier one."""
    changed: dict[str, Fault] = {}
    for path in paths:
        file = _SiteFile(path)
        for code, row in file.data.items():
            base = changed[code] if code in changed else ours.get(code)
            changed[code] = file.fault(code, row, base, ours)
    return changed


class _SiteFile:
    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.text = path.read_text(encoding="utf-8")
            self.data: dict[str, Any] = tomllib.loads(self.text)
        except OSError as error:
            raise CatalogueWrong(f"{path}: {error.strerror or error}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise CatalogueWrong(f"{path}: not valid TOML: {error}") from error

    def fault(self, code: str, row: object, base: Fault | None, ours: Mapping[str, Fault]) -> Fault:
        """The catalogue's row with the site's fields, or a row of its own."""
        if not isinstance(row, dict):
            raise self.wrong(code, "", f'expected a table: ["{code}"], got {row!r:.40}')
        values = {key: self._value(code, key, value) for key, value in row.items()}
        if "comment" not in values:
            raise self.wrong(code, "comment", "missing: say why the site sees it otherwise")
        if base is None and (missing := [key for key in _NEEDED if key not in values]):
            message = f"no such fault{_nearest(code, ours)}; a new one needs {', '.join(missing)}, too"
            raise self.wrong(code, "", message)
        source = f"site: {self.path}"
        made = replace(base, source=source, **values) if base else Fault(code=code, source=source, **values)
        if made.scope is Scope.APPLICATION and made.severity is Severity.FAIL:
            message = "a fault of scope application never fails a node; set another scope, too"
            raise self.wrong(code, "severity" if "severity" in values else "scope", message)
        return made

    def _value(self, code: str, key: str, value: object) -> Any:  # noqa: ANN401 - one of the field types
        if key not in _FIELDS:
            raise self.wrong(code, key, f"unknown key{_nearest(key, _FIELDS)}")
        if kind := _ENUMS.get(key):
            if value in list(kind):
                return kind(str(value))
            raise self.wrong(code, key, f"expected one of {', '.join(kind)}; got {value!r:.40}")
        if key == "architectures":
            if isinstance(value, list) and all(isinstance(one, str) for one in value):
                return tuple(value)
            raise self.wrong(code, key, f"expected a list of texts, got {value!r:.40}")
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(code, key, f"expected a text, got {value!r:.40}")
        if key == "part" and value not in PARTS:
            raise self.wrong(code, key, f"expected one of {', '.join(PARTS)}; got {value!r:.40}")
        return value

    def wrong(self, code: str, key: str, message: str) -> CatalogueWrong:
        """An error at a field of a row, or at the row."""
        where = f"{code}.{key}" if key else code
        return CatalogueWrong(f"{self.path}:{self._line(code, key)}: {where}: {message}")

    def _line(self, code: str, key: str) -> int:
        # tomllib does not tell lines. A field that is missing is reported where its table begins.
        spelled = "|".join(re.escape(one) for one in (code, f'"{code}"', f"'{code}'"))
        start = 0
        for number, line in enumerate(self.text.splitlines(), 1):
            if re.match(rf"\s*\[\s*({spelled})\s*\]", line) or re.match(rf"\s*({spelled})\s*=", line):
                start = number
            elif start and re.match(r"\s*\[", line):
                break
            if start and key and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
                return number
        return start or 1


def _nearest(word: str, known: Iterable[str]) -> str:
    close = get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]}" if close else ""
