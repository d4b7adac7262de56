"""One log in every frame that people paste it in: a function each, from messages to text."""

from __future__ import annotations

import html
import json
import textwrap
from datetime import UTC, datetime

BASE = 1_714_557_600  # 2024-05-01 10:00:00 UTC
HOST = "node7"


def _at(index):
    return datetime.fromtimestamp(BASE + index, tz=UTC)


def _each(form):
    """A frame of one line a message; ``form`` is asked with message, index and the clock's texts."""

    def frame(messages):
        return "".join(
            form(message, index, _at(index), index + 100.25) + "\n" for index, message in enumerate(messages)
        )

    return frame


def _journal(message, index, *, as_bytes=False):
    return {
        "__REALTIME_TIMESTAMP": str((BASE + index) * 1_000_000),
        "_SOURCE_MONOTONIC_TIMESTAMP": str(int((index + 100.25) * 1e6)),
        "_TRANSPORT": "kernel",
        "PRIORITY": "3",
        "_HOSTNAME": HOST,
        "MESSAGE": list(message.encode()) if as_bytes else message,
        "SYSLOG_IDENTIFIER": "kernel",
    }


def _fields(message, index):
    return {key: value for key, value in _journal(message, index).items() if key != "MESSAGE"}


def _verbose(messages):
    return "".join(
        f"{_at(i):%a %Y-%m-%d %H:%M:%S}.000000 UTC [s=ab;i={i};b=cd]\n"
        + "".join(f"    {key}={value}\n" for key, value in _fields(m, i).items())
        + f"    MESSAGE={m}\n"
        for i, m in enumerate(messages)
    )


def _export(messages):
    return "".join(
        "".join(f"{key}={value}\n" for key, value in _fields(m, i).items()) + f"MESSAGE={m}\n\n"
        for i, m in enumerate(messages)
    )


def _export_binary(messages):
    out = []
    for index, message in enumerate(messages):
        size = len(message).to_bytes(8, "little").decode("latin-1")
        fields = "".join(f"{key}={value}\n" for key, value in _fields(message, index).items())
        out.append(fields + f"MESSAGE\n{size}{message}\n")
    return "".join(f"{one}\n" for one in out)


def _json_pretty(messages):
    # systemd puts a tab before and blanks around the colon
    return "".join(
        json.dumps(_journal(m, i), indent="\t", separators=(",", " : ")) + "\n"
        for i, m in enumerate(messages)
    )


def _json_pretty_bytes(messages):
    return "".join(
        json.dumps(_journal(m, i, as_bytes=True), indent="\t", separators=(",", " : ")) + "\n"
        for i, m in enumerate(messages)
    )


def _dmesg_json(messages):
    rows = ",".join(
        f'{{\n         "pri": 3,\n         "time":   {i + 100.25:.6f},\n         "msg": {json.dumps(m)}\n      }}'
        for i, m in enumerate(messages)
    )
    return f'{{\n   "dmesg": [\n      {rows}\n   ]\n}}\n'


def _cloudwatch(messages):
    events = [
        {"timestamp": (BASE + i) * 1000, "message": f"{HOST} kernel: {m}"} for i, m in enumerate(messages)
    ]
    return json.dumps({"events": events, "nextForwardToken": "f/1"})


def _loki(messages):
    values = [[str((BASE + i) * 10**9), m] for i, m in enumerate(messages)]
    return json.dumps(
        {
            "status": "success",
            "data": {"result": [{"stream": {"job": "kernel", "node": HOST}, "values": values}]},
        }
    )


def _fenced(messages):
    return "Hi, this is what we see on the node:\n\n```\n" + FRAMES["dmesg"](messages) + "```\n\nany idea?\n"


def _dshbak(messages):
    return f"----------------\n{HOST}\n----------------\n" + FRAMES["dmesg"](messages)


FRAMES = {
    "bare": _each(lambda m, i, t, up: m),
    "dmesg": _each(lambda m, i, t, up: f"[{up:12.6f}] {m}"),
    "dmesg caller": _each(lambda m, i, t, up: f"[{up:12.6f}][ T{i + 20}] {m}"),
    "dmesg ctime": _each(lambda m, i, t, up: f"[{t:%a %b} {t.day:2} {t:%H:%M:%S %Y}] {m}"),
    "dmesg decode": _each(lambda m, i, t, up: f"kern  :err   : [{up:12.6f}] {m}"),
    "dmesg decode iso": _each(lambda m, i, t, up: f"kern  :err   : {t:%Y-%m-%dT%H:%M:%S},859532+00:00 {m}"),
    "dmesg delta": _each(lambda m, i, t, up: f"[{up:12.6f} <    0.000005>] {m}"),
    "dmesg delta alone": _each(lambda m, i, t, up: f"[<    1.000000>] {m}"),
    "dmesg reltime": _each(lambda m, i, t, up: f"[  +1.000000] {m}" if i else f"[May 1 10:00] {m}"),
    "dmesg raw": _each(lambda m, i, t, up: f"<3>[{up:12.6f}] {m}"),
    "kmsg": _each(
        lambda m, i, t, up: f"3,{i + 9},{int(up * 1e6)},-;{m}\n SUBSYSTEM=pci\n DEVICE=+pci:0000:1a:00.0"
    ),
    "kmsg caller": _each(lambda m, i, t, up: f"3,{i + 9},{int(up * 1e6)},-,caller=T12;{m}"),
    "kmsg escaped": _each(lambda m, i, t, up: f"3,{i + 9},{int(up * 1e6)},-;{m}\\x0a"),
    "dmesg json": _dmesg_json,
    "short": _each(lambda m, i, t, up: f"{t:%b} {t.day:2} {t:%H:%M:%S} {HOST} kernel: {m}"),
    "short-precise": _each(lambda m, i, t, up: f"{t:%b %d %H:%M:%S}.123456 {HOST} kernel: {m}"),
    "short-iso": _each(lambda m, i, t, up: f"{t:%Y-%m-%dT%H:%M:%S}+0000 {HOST} kernel: {m}"),
    "short-iso-precise": _each(lambda m, i, t, up: f"{t:%Y-%m-%dT%H:%M:%S}.123456+00:00 {HOST} kernel: {m}"),
    "short-full": _each(lambda m, i, t, up: f"{t:%a %Y-%m-%d %H:%M:%S} UTC {HOST} kernel: {m}"),
    "short-unix": _each(lambda m, i, t, up: f"{BASE + i}.123456 {HOST} kernel: {m}"),
    "short-monotonic": _each(lambda m, i, t, up: f"[{up:12.6f}] {HOST} kernel: {m}"),
    "with-unit": _each(
        lambda m, i, t, up: f"{t:%a %Y-%m-%d %H:%M:%S} UTC {HOST} kernel[n/a]: {m}".replace("[n/a]", "")
    ),
    "verbose": _verbose,
    "export": _export,
    "export binary": _export_binary,
    "json": _each(lambda m, i, t, up: json.dumps(_journal(m, i))),
    "json bytes": _each(lambda m, i, t, up: json.dumps(_journal(m, i, as_bytes=True))),
    "json-pretty": _json_pretty,
    "json-pretty bytes": _json_pretty_bytes,
    "rfc3164": _each(lambda m, i, t, up: f"{t:%b} {t.day:2} {t:%H:%M:%S} {HOST} kernel: [{up:12.6f}] {m}"),
    "rfc3164 pri": _each(
        lambda m, i, t, up: f"<3>{t:%b} {t.day:2} {t:%H:%M:%S} {HOST} kernel: [{up:12.6f}] {m}"
    ),
    "rfc5424": _each(lambda m, i, t, up: f"<3>1 {t:%Y-%m-%dT%H:%M:%S}.123Z {HOST} kernel - - - {m}"),
    "rfc5424 data": _each(
        lambda m, i, t, up: (
            f'<3>1 {t:%Y-%m-%dT%H:%M:%S}Z {HOST} kernel 1 ID4 [ex@32473 iut="3" b="a\\"]"][c@1 d="e"] {m}'
        )
    ),
    "rsyslog": _each(
        lambda m, i, t, up: f"{t:%Y-%m-%dT%H:%M:%S}.123456+00:00 {HOST} kernel: [{up:12.6f}] {m}"
    ),
    "docker timestamps": _each(lambda m, i, t, up: f"{t:%Y-%m-%dT%H:%M:%S}.123456789Z [{up:12.6f}] {m}"),
    "cri": _each(lambda m, i, t, up: f"{t:%Y-%m-%dT%H:%M:%S}.123456789Z stderr F [{up:12.6f}] {m}"),
    "docker json": _each(
        lambda m, i, t, up: json.dumps(
            {"log": f"[{up:12.6f}] {m}\n", "stream": "stderr", "time": f"{t:%Y-%m-%dT%H:%M:%S}.1Z"}
        )
    ),
    "fluent bit": _each(
        lambda m, i, t, up: json.dumps(
            {
                "log": m,
                "kubernetes": {"pod_name": "dmesg-x1", "host": HOST},
                "time": f"{t:%Y-%m-%dT%H:%M:%S}Z",
            }
        )
    ),
    "gcp": _each(
        lambda m, i, t, up: json.dumps(
            {
                "jsonPayload": {"MESSAGE": m, "_HOSTNAME": HOST},
                "timestamp": f"{t:%Y-%m-%dT%H:%M:%S}Z",
                "logName": "projects/x/logs/kernel",
            }
        )
    ),
    "cloudwatch": _cloudwatch,
    "loki": _loki,
    "bracketed": _each(lambda m, i, t, up: f"[{t:%Y-%m-%dT%H:%M:%S}.123Z] {HOST} {m}"),
    "dated": _each(lambda m, i, t, up: f"{t:%Y-%m-%d %H:%M:%S} {HOST} kernel: {m}"),
    "kubectl prefix": _each(lambda m, i, t, up: f"[pod/dmesg-abc12/main] [{up:12.6f}] {m}"),
    "stern": _each(lambda m, i, t, up: f"dmesg-abc12 main [{up:12.6f}] {m}"),
    "grep": _each(
        lambda m, i, t, up: f"/var/log/kern.log:{i + 1}:{t:%b} {t.day:2} {t:%H:%M:%S} {HOST} kernel: {m}"
    ),
    "grep rotated": _each(
        lambda m, i, t, up: f"kern.log-20240501:{t:%b} {t.day:2} {t:%H:%M:%S} {HOST} kernel: {m}"
    ),
    "grep -n": _each(lambda m, i, t, up: f"{i + 1}:[{up:12.6f}] {m}"),
    "pdsh": _each(lambda m, i, t, up: f"{HOST}: [{up:12.6f}] {m}"),
    "pdsh bare": _each(lambda m, i, t, up: f"{HOST}: {m}"),
    "dshbak": _dshbak,
    "ansible": lambda messages: f"{HOST} | CHANGED | rc=0 >>\n" + FRAMES["dmesg"](messages),
    "quoted": _each(lambda m, i, t, up: f"> [{up:12.6f}] {m}"),
    "quoted twice": _each(lambda m, i, t, up: f"> > [{up:12.6f}] {m}"),
    "fenced": _fenced,
    "numbered": _each(lambda m, i, t, up: f"{i + 1:6}\t[{up:12.6f}] {m}"),
    "html": _each(lambda m, i, t, up: html.escape(f"[{up:12.6f}] {m}")),
    "crlf": lambda messages: FRAMES["dmesg"](messages).replace("\n", "\r\n"),
    "no-break spaces": lambda messages: FRAMES["dmesg"](messages).replace(" ", "\u00a0"),
    "colours": _each(
        lambda m, i, t, up: f"\x1b[32m[{up:12.6f}] \x1b[0m\x1b[33m{m[:9]}\x1b[0m\x1b[31m{m[9:]}\x1b[0m"
    ),
    "smart quotes": lambda messages: FRAMES["dmesg"](messages).replace("'", "\u2019").replace('"', "\u201c"),
    "blank lines": lambda messages: FRAMES["dmesg"](messages).replace("\n", "\n\n"),
    "indented": _each(lambda m, i, t, up: f"    [{up:12.6f}] {m}"),
}
WITH_HOST = {
    name
    for name in FRAMES
    if name.startswith(
        ("short", "verbose", "export", "json", "rfc", "rsyslog", "grep", "pdsh", "with-unit", "fluent", "gcp")
    )
    and name != "grep -n"
} | {"dshbak", "ansible", "cloudwatch", "loki", "bracketed", "dated"}
BEHIND_NUMBERS = {"dmesg reltime", "dmesg delta alone", "bare", "pdsh bare"}
WITHOUT_CLOCK = BEHIND_NUMBERS | {"short", "short-precise", "grep", "grep rotated"}


def wrap_hard(text, width):
    """As terminals do: after so many columns, wherever that is."""
    return "\n".join(
        piece
        for line in text.split("\n")
        for piece in ([line[i : i + width] for i in range(0, len(line), width)] or [""])
    )


def wrap_soft(text, width):
    """As mail programs do: at blanks."""
    out = []
    for line in text.split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        out += [
            indent + piece if not n else piece
            for n, piece in enumerate(textwrap.wrap(line.strip(), width, break_on_hyphens=False))
        ] or [""]
    return "\n".join(out)
