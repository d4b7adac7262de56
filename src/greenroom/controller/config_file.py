"""TOML into dataclasses; every error names the file, the line and the nearest valid key."""

from __future__ import annotations

import dataclasses
import re
import tomllib
import types
import typing
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


class ConfigError(Exception):
    """The configuration is wrong; the text names file, line and field and what was expected."""

    is_config = True


class ConfigFile:
    """A parsed file that still knows its lines."""

    def __init__(self, path: Path) -> None:
        """Raises ConfigError if it cannot be read or is no TOML."""
        self.path = path
        try:
            self.text = path.read_text(encoding="utf-8")
            self.data: dict[str, Any] = tomllib.loads(self.text)
        except OSError as error:
            raise ConfigError(f"{path}: {error.strerror or error}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path}: not valid TOML: {error}") from error

    def line(self, *keys: str) -> int:
        """The line on which a key stands (tomllib does not tell): 1 if it cannot be found."""
        *tables, last = keys
        at: tuple[str, ...] = ()
        for number, line in enumerate(self.text.splitlines(), 1):
            if header := re.match(r"\s*\[+\s*([^\]]+?)\s*\]+", line):
                at = tuple(re.findall(r'"[^"]*"|[^.\s]+', header[1]))
                at = tuple(part.strip('"') for part in at)
                if at == keys:
                    return number
            elif at == tuple(tables) and re.match(rf'\s*"?{re.escape(last)}"?\s*[.=]', line):
                return number
        return self.line(*tables) if len(keys) > 1 else 1

    def error(self, keys: tuple[str, ...], message: str) -> ConfigError:
        """An error at a key."""
        return ConfigError(f"{self.path}:{self.line(*keys)}: {'.'.join(keys)}: {message}")

    def fill(self, kind: type[T], table: object, keys: tuple[str, ...] = ()) -> T:
        """The dataclass ``kind`` from a table; fields are the keys, defaults the defaults."""
        if not isinstance(table, dict):
            raise self.error(keys, f"expected a table, got {table!r:.60}")
        hints = typing.get_type_hints(kind)
        known = {field.name: field for field in dataclasses.fields(typing.cast("Any", kind))}
        values: dict[str, Any] = {}
        for key, value in table.items():
            here = (*keys, key)
            if key not in known:
                raise self.error(here, f"unknown key{nearest(key, known)}")
            values[key] = self._value(hints[key], value, here)
        for name, field in known.items():
            required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
            if required and name not in values:
                raise self.error((*keys, name), "missing")
        return kind(**values)

    def _value(self, kind: Any, value: Any, keys: tuple[str, ...]) -> Any:  # noqa: ANN401 - any TOML value
        origin = typing.get_origin(kind)
        if origin is tuple:
            if not isinstance(value, list):
                raise self.error(keys, f"expected a list, got {value!r:.60}")
            item = typing.get_args(kind)[0]
            return tuple(self._value(item, one, keys) for one in value)
        if origin in (dict, Mapping):
            if not isinstance(value, dict):
                raise self.error(keys, f"expected a table, got {value!r:.60}")
            item = typing.get_args(kind)[1]
            return {key: self._value(item, one, (*keys, key)) for key, one in value.items()}
        if origin is types.UnionType:
            return self._value(typing.get_args(kind)[0], value, keys)
        if dataclasses.is_dataclass(kind):
            return self.fill(typing.cast("type[Any]", kind), value, keys)
        if kind is Any:
            return value
        return self._plain(kind, value, keys)

    def _plain(self, kind: type, value: Any, keys: tuple[str, ...]) -> Any:  # noqa: ANN401
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            name = {"str": "text", "bool": "true or false", "int": "a whole number", "float": "a number"}
            expected = name.get(kind.__name__, kind.__name__)
            raise self.error(keys, f"expected {expected}, got {value!r:.60}")
        return value


def nearest(key: str, known: typing.Iterable[str]) -> str:
    """``; did you mean 'x'?`` or the list of what there is."""
    names = sorted(known)
    near = get_close_matches(key, names, n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(names)}"
