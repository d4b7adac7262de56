"""Log text -> entries: one message each, whether it stands on a line, in a JSON record or in journal fields.

Formats of several lines: ``journalctl -o verbose``, ``export``, ``json-pretty``, ``dmesg --json`` and pretty
JSON of any log store. Of one line: ``journalctl -o json``, Docker's json-file, exports of log stores.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from greenroom.parsers.framing import Head, peel
from greenroom.parsers.stamps import unix_time

MAX_LINE_CHARS = 4_000
MAX_JSON_CHARS = 8_000_000
MAX_RECORDS = 100_000
_MESSAGE_KEYS = ("MESSAGE", "message", "msg", "log", "textPayload", "_raw", "line", "body", "Message", "Line")
_HOST_KEYS = frozenset(
    {"_HOSTNAME", "hostname", "host", "node", "node_name", "nodeName", "hostName", "instance"}
)
_TIME_KEYS = ("time", "timestamp", "@timestamp", "ts", "Timestamp", "_time")
_PRETTY = re.compile(r'^[ \t]{0,40}\{?[ \t]{0,40}"(?P<key>[\w@.]{1,60})"[ \t]{0,9}:[ \t]{0,20}(?P<value>.*)$')
_FIELD = re.compile(r"^[ \t]{0,8}(?P<key>[A-Z_][A-Z0-9_]{1,60})=(?P<value>.*)$")
_PRETTY_SIGN = re.compile(
    r'^[ \t]{0,40}\{?[ \t]{0,40}"(?:MESSAGE|message|msg|log|textPayload)"[ \t]{0,9}:', re.MULTILINE
)
_LINE_OF_JSON = re.compile(
    r'^[ \t]{0,40}[\[{][^\n]{0,2000}?"(?:MESSAGE|message|msg|log|textPayload|_raw|line|body)"'
    r"[^\n]{1,4000}[\]}],?[ \t\r]{0,9}$",
    re.MULTILINE,
)
_FIELD_SIGN = re.compile(r"^[ \t]{0,8}(?:MESSAGE=|_HOSTNAME=|__CURSOR=|_TRANSPORT=|MESSAGE$)", re.MULTILINE)
_DATE_HEAD = re.compile(r"^(?:[A-Z]\w{2} )?\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")


@dataclass(slots=True)
class Entry:
    """One message."""

    number: int
    """Its line, from 1."""
    raw: str
    head: Head
    others: tuple[Head, ...] = ()
    """Other ways to read it, where lines were broken and it cannot be told how."""
    pieces: tuple[Entry, ...] = ()
    """Its lines, each by itself: what it is if no way of reading it whole tells anything."""


def is_structured(text: str) -> bool:
    """Whether records take several lines."""
    if len(_FIELD_SIGN.findall(text)) > 1:
        return True
    return bool(_PRETTY_SIGN.search(text)) and not _LINE_OF_JSON.search(text)


class Assembler:
    """Gathers the fields of one record over its lines."""

    def __init__(self) -> None:
        self._fields: dict[str, object] = {}
        self._number = 0
        self._open: list[int] | None = None
        self._blob = False

    def take(self, number: int, line: str) -> Iterator[Entry]:
        """The record that ends with this line, if one does."""
        bare = line.strip()
        if self._open is not None:
            self._take_bytes(bare)
        elif self._blob:
            self._blob = False
            self._put("MESSAGE", re.sub(r"^.{0,3}\x00[\x00-\x1f]{0,8}", "", line), number)
        elif bare == "MESSAGE":
            self._blob = (
                True  # the export format gives what is no plain text with its length, on its own line
            )
        elif not bare or bare[0] == "}" or _DATE_HEAD.match(line):
            yield from self.close()
            if bare and bare[0] != "}":
                head = peel(line)
                self._fields.update(_when=head.when, _at=head.at)
            elif "{" in bare and (found := _PRETTY.match(bare[bare.index("{") :])):
                self._put(found["key"], self._value(found["key"], found["value"]), number)
        elif found := _PRETTY.match(line):
            self._put(found["key"], self._value(found["key"], found["value"]), number)
        elif found := _FIELD.match(line):
            self._put(found["key"], found["value"], number)

    def close(self) -> Iterator[Entry]:
        """What is gathered so far, as an entry."""
        fields, self._fields, self._open = self._fields, {}, None
        if head := head_of(fields):
            yield Entry(number=self._number, raw=head.text[:MAX_LINE_CHARS], head=head)

    def _put(self, key: str, value: object, number: int) -> None:
        if key in _MESSAGE_KEYS:
            self._number = number
        if len(self._fields) < 500:
            self._fields[key] = value

    def _value(self, key: str, text: str) -> object:
        text = text.strip().rstrip(",").rstrip()
        if key in _MESSAGE_KEYS and text.startswith("[") and "]" not in text:
            self._open = []
            self._fields["_bytes"] = self._open
            self._take_bytes(text[1:])
            return self._open
        try:
            value: object = json.loads(text)
        except (ValueError, RecursionError):
            return text.strip('"')
        return value

    def _take_bytes(self, text: str) -> None:
        if self._open is not None:
            if len(self._open) < MAX_LINE_CHARS:
                self._open += [int(one) for one in re.findall(r"\d{1,3}", text)][:MAX_LINE_CHARS]
            if "]" in text:
                self._open = None


def json_entries(number: int, line: str) -> list[Entry]:
    """The messages of a line that is JSON; none if it is not."""
    bare = line.strip().rstrip(",")
    if not bare or bare[0] not in "{[" or bare[-1] not in "]}" or len(bare) > MAX_JSON_CHARS:
        return []
    if not any(f'"{key}"' in bare for key in (*_MESSAGE_KEYS, "values")):
        return []
    try:
        value: object = json.loads(bare)
    except (ValueError, RecursionError):
        return []
    return [
        Entry(number=number, raw=head.text[:MAX_LINE_CHARS], head=head)
        for fields in _records(value)
        if (head := head_of(fields))
    ]


def head_of(fields: Mapping[str, object]) -> Head | None:
    """The message of a record with its time and host."""
    text = next((told for key in _MESSAGE_KEYS if (told := _text(fields.get(key)))), "")
    if not text:
        return None
    head = peel(text.replace("\n", " ").strip()[:MAX_LINE_CHARS])
    head.headed = True
    head.host = head.host or _host(fields)
    for key in ("__REALTIME_TIMESTAMP", "_SOURCE_REALTIME_TIMESTAMP"):
        if head.at is None and (us := _digits(fields.get(key))):
            head.at, head.when = us / 1e6, head.when or str(fields[key])
    us = _digits(fields.get("_SOURCE_MONOTONIC_TIMESTAMP")) or _digits(fields.get("__MONOTONIC_TIMESTAMP"))
    if head.uptime_s is None and us:
        head.uptime_s = us / 1e6
    if not head.when and isinstance(when := fields.get("_when"), str):
        head.when, head.at = when, fields.get("_at") if isinstance(fields.get("_at"), float) else head.at  # type: ignore[assignment]
    for key in _TIME_KEYS:
        value = fields.get(key)
        if isinstance(value, str) and not head.when and value[:1].isdigit():
            head.when, head.at = value[:40], unix_time(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            _take_number(head, float(value))
    return head


def _loki(item: Mapping[str, object], above: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """The lines of a stream as Loki gives them: labels, and pairs of time in ns and line."""
    values, labels = item.get("values"), item.get("stream")
    for pair in values if isinstance(values, list) else ():
        if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[1], str):
            ns = _digits(pair[0])
            when = {"time": ns / 1e9} if ns else {}
            yield {**above, **(labels if isinstance(labels, dict) else {}), **when, "message": pair[1]}


def _take_number(head: Head, value: float) -> None:
    """A number of seconds: since the boot (dmesg --json), or Unix time in s, ms, us or ns."""
    if value < 3e8:
        head.uptime_s = value if head.uptime_s is None else head.uptime_s
    elif head.at is None and value < 1e20:
        while value > 1e11:
            value /= 1000
        head.at, head.when = value, head.when or f"{value:.6f}"


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(one, int) and 0 <= one < 256 for one in value):
        return bytes(value).decode("utf-8", "replace")
    return ""


def _digits(value: object) -> int:
    text = str(value) if isinstance(value, str | int) else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0


def _host(fields: Mapping[str, object]) -> str:
    stack: list[tuple[str, object, int]] = [(key, value, 0) for key, value in fields.items()]
    for key, value, depth in stack:
        if isinstance(value, str) and key in _HOST_KEYS and value:
            return value[:64]
        if isinstance(value, dict) and depth < 4 and len(stack) < 1_000:
            named = "host" if key == "host" else ""
            stack += [(named if inner == "name" else inner, one, depth + 1) for inner, one in value.items()]
    return ""


def _records(value: object) -> Iterator[Mapping[str, object]]:
    """Every object that has a message, outside in."""
    stack: list[tuple[object, dict[str, object]]] = [(value, {})]
    seen = 0
    while stack and seen < MAX_RECORDS:
        item, above = stack.pop()
        seen += 1
        if isinstance(item, dict):
            if any(_text(item.get(key)) for key in _MESSAGE_KEYS):
                yield {**above, **item}
            else:
                yield from _loki(item, above)
                plain = {key: one for key, one in item.items() if not isinstance(one, list)}
                stack += [
                    (one, {**above, **plain} if len(above) < 100 else above)
                    for one in reversed(item.values())
                ]
        elif isinstance(item, list):
            stack += [(one, above) for one in reversed(item)]
