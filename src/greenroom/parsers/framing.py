"""What stands before the kernel's own words in a line: times, hosts, levels, prefixes of the tools between.

``peel`` takes the prefixes off one by one, whichever they are and in whatever order they were put on: dmesg
in all its time formats, /dev/kmsg, journalctl(1) -o short*, syslog (RFC 3164, RFC 5424, rsyslog), CRI and
kubectl logs, pdsh, clush, grep, quoting in mails and Markdown.
"""

# ruff: noqa: E501 - patterns, one a line

from __future__ import annotations

import re
from dataclasses import dataclass

from greenroom.parsers.stamps import unix_time

MAX_PREFIXES = 12
MAX_PEELED_CHARS = 1_000
_DATE = (
    r"\[?(?P<stamp>"
    r"(?:[A-Z][a-z]{2},? )?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z|[A-Z]{3,4}(?= )|[+-]\d\d:?\d\d))?"
    r"|[A-Z][a-z]{2},? [A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d(?:\.\d{1,9})?(?: [A-Z]{3,4})? \d{4}"
    r"|[^\W\d_]{3,5}\.? +\d{1,2}(?: \d{4})? \d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: \d{4}(?= ))?"
    r"|\d{9,11}\.\d{3,9}(?= )"
    r")(?: <[ +]*\d+\.\d+>)?\]?:?(?=\s|$)\s?"
)
START = (
    r"(?:NVRM\b|nvidia-nv(?:switch|link)|nvidia[ -]|pcieport |mlx5_core[ :]|EDAC |mce: |\{\d+\}\[Hardware|\[Hardware |"
    r"amdgpu[ :]|\[drm|nvme |nvme\d|XFS \(|EXT4-fs|BTRFS|INFO: |BUG: |watchdog: |Lustre|LNet|nfs: |blk_update|"
    r"print_req_error|I/O error|critical |Out of memory|Buffer I/O|Kernel panic|kernel:|rcu: |CPU\d|ata\d|sd[a-z]? |block |ceph: |libceph|mpt\d|e1000|xe [\d]|i915 |ib\d|"
    r"usb |pci[ _]|pciehp|ACPI|Memory failure|GHES|igb |ixgbe|bnxt_en|ib_|infiniband|Xid |SXid |systemd|perf: |"
    r"oom-kill|oom_reaper|workqueue|audit|python|traps:|show_signal|pt_main|nvidia_|acpi|i40e |ice [\d]|hns3 |megaraid|"
    r"scsi |vfio|rasdaemon|mc_event|thermal |NMI |NETDEV |Memory failure|Aborting |md/|md: |bond|general protection|CMCI|Buffer |traps|divide |DMAR|AMD-Vi|iommu|clocksource|hrtimer|TCP: |IPv6: |docker0|br-|veth|cni0|cali|eth\d|eno\d|ens\d|enp\d)"
)
"""How messages of the kernel begin: the name of a driver or of a part of the kernel."""
_MESSAGE = re.compile(START)
_HEADED = rf"(?:{START}|\[ *[+\d]|<\d|\d{{4}}-|\d+,\d+,\d+,|[A-Z][a-z]{{2}} +\d)"
_PREFIXES = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?:\s{0,8}>)+\s?",  # quoted in a mail
        (
            r"<\d{1,3}>(?:1 (?P<rfc5424>\S{10,40}) (?P<host>\S{1,64}) (?:\S{1,48}) (?:\S{1,128}) (?:\S{1,32}) "
            r"(?:-|(?:\[(?:[^\]\"\\]|\\.|\"(?:[^\"\\]|\\.){0,200}\"){0,40}\])+)\s?(?:\ufeff)?)?"
        ),
        r"\d{1,3},\d{1,20},(?P<us>\d{1,16}),[^;]{0,60};",  # /dev/kmsg
        (
            r"\s{0,4}(?:kern|user|daemon|syslog|auth|authpriv|local\d|mail|lpr|news|cron)\s{0,4}:"
            r"(?:emerg|alert|crit|err|warn|notice|info|debug)\s{0,4}:\s?"
        ),
        r"\s{0,4}\[ *(?P<up>\d{1,9}\.\d{1,9})(?: <[ +]*\d+\.\d+>)?\]\s?",
        r"\[ *(?:\+\d+\.\d+|<[ +]*\d+\.\d+>|[A-Z][a-z]{2} ?\d{1,2} \d\d:\d\d)\s*\]\s?",  # dmesg -d, -H
        r"\[ *[TC]\d{1,8}\]:?\s?",  # CONFIG_PRINTK_CALLER
        _DATE,
        r"(?:stdout|stderr) [FP] ",  # CRI
        r"(?:(?P<host>(?!kernel)[A-Za-z0-9][\w.-]{0,63}) )?kernel(?:\[\d{1,9}\])?: ?",
        r"\[pod/(?:[\w.-]{1,253})/[\w.-]{1,63}\] ?",
        rf"pod/[\w.-]{{1,253}} (?:(?P<host>[A-Za-z0-9][\w.-]{{0,63}}) )?(?={_HEADED})",
        (
            r"(?:[\w./~-]{0,120}[/.](?:log|txt|out|gz|dmesg|messages|syslog)(?:[.-][\d.-]{1,20}(?:gz)?)?|"
            r"(?:messages|syslog|dmesg)(?:[.-][\d.-]{1,20}(?:gz)?)?):(?:\d{1,9}[:-])?\s?"
        ),  # grep
        rf"\s{{0,6}}\d{{1,6}}[:|\t-]?\s{{0,4}}(?={_HEADED})",  # line numbers
        rf"(?!{START})(?P<host>[A-Za-z][\w.-]{{0,63}})(?::| \|) ?(?={_HEADED})",  # pdsh, clush, tables
        rf"(?:[*+-]|\d{{1,3}}\.)\s{{1,3}}(?={_HEADED})",  # a list
        r"`{1,3}",
    )
)
# Marks of quoting and numbering: such a line may well be a piece of the one above.
_MARKS = frozenset(
    one
    for one in _PREFIXES
    if one.match("> ") or one.match("` ") or one.match("7: [ 1.5") or one.match("- [ 1.5")
)
# Behind a date: the host, then the message or the program that wrote it.
_HOST_THEN = re.compile(
    rf"(?P<host>[A-Za-z0-9][\w.-]{{0,63}}) (?={_HEADED}|[A-Za-z][\w@./-]{{1,60}}(?:\[\d{{1,9}}\])?: )"
)
# dmesg's dates, behind which no host stands: a comma and a zone, or the form of ctime(3)
_OF_DMESG = re.compile(r",\d+[+-]\d\d:\d\d$|^[A-Z][a-z]{2} [A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d \d{4}$")
# stern prints pod and container
_STERN = re.compile(rf"[\w.]{{2,60}}-[\w.-]{{1,190}} [\w.-]{{1,63}} (?={_HEADED})")


@dataclass(slots=True)
class Head:
    """What the prefixes say, and the message behind them."""

    text: str
    host: str = ""
    uptime_s: float | None = None
    at: float | None = None
    """Unix s, where the date is full; a date without zone is read as UTC."""
    when: str = ""
    headed: bool = False
    """Whether a time, a level or a host stands before it: such a line begins a record."""


def peel(line: str) -> Head:
    """The line without its prefixes. Looks at the first 1000 characters for them."""
    head = Head(text=line)
    if not line or line.isspace():
        return head
    start, limit = 0, min(len(line), MAX_PEELED_CHARS)
    dated = False
    line = line.rstrip()
    head.text = line
    for _ in range(MAX_PREFIXES):
        found = next(
            (m for one in _PREFIXES if (m := one.match(line, start, limit)) and m.end() > start), None
        )
        if found is None and dated and not head.host and not _MESSAGE.match(line, start, limit):
            found = _HOST_THEN.match(line, start, limit)
        if found is None and start == 0:
            found = _STERN.match(line, 0, limit) if not _MESSAGE.match(line) else None
        if found is None:
            break
        dated |= _take(head, found.groupdict())
        head.headed |= found.re not in _MARKS
        start = found.end()
    head.text = line[start:]
    return head


def _take(head: Head, groups: dict[str, str | None]) -> bool:
    """Note what a prefix says; whether it was a date, behind which a host may stand."""
    if host := groups.get("host"):
        head.host = head.host or host
    if us := groups.get("us"):
        head.uptime_s = int(us) / 1e6
    if (up := groups.get("up")) and head.uptime_s is None:
        head.uptime_s = float(up)
    stamp = groups.get("stamp") or groups.get("rfc5424")
    if stamp and stamp != "-" and not head.when:
        head.when = stamp[:40]
        head.at = unix_time(stamp)
    return bool(stamp) and not _OF_DMESG.search(stamp or "")


def has_clock(head: Head) -> bool:
    """Whether a time stands before the message."""
    return head.uptime_s is not None or bool(head.when)


def begins_message(line: str) -> bool:
    """Whether the line begins as messages of the kernel do."""
    return _MESSAGE.match(line) is not None
