"""``ip -j link`` (also ``-s``, ``-d``) -> network devices that have no carrier or count errors."""

from __future__ import annotations

import re
from dataclasses import dataclass

from greenroom.model.sightings import Reading
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, integer, load_json, mapping, sequence

KIND = "ip-link"
_SOFTWARE = re.compile(
    r"^(?:lo|docker|br-|virbr|veth|cni|flannel|cali|tunl|dummy|kube-ipvs|nerdctl|podman|vxlan|tun|tap|bonding_masters)"
)
_ERRORS = ("errors", "over_errors", "crc_errors", "frame_errors", "fifo_errors", "carrier_errors")


@dataclass(frozen=True, slots=True, kw_only=True)
class NetDevice:
    """One network device."""

    name: str
    state: str
    """``UP``, ``DOWN``, ``UNKNOWN``, ``LOWERLAYERDOWN``, ``DORMANT``."""
    wanted: bool
    """Set up by the administrator (flag UP)."""
    mtu: int | None = None
    master: str = ""
    physical: bool = True
    errors: int = 0


def recognise(text: str) -> float:
    """How sure it is this JSON."""
    start = head(text)
    return 0.95 if '"ifname"' in start and '"operstate"' in start else 0.0


def parse_links(text: str) -> list[NetDevice]:
    """The devices in the order printed."""
    found = []
    for item in sequence(load_json(text)):
        link = mapping(item)
        name = str(link.get("ifname", ""))[:64]
        if not name:
            continue
        flags = {str(flag) for flag in sequence(link.get("flags"))}
        kind = mapping(link.get("linkinfo")).get("info_kind")
        stats = mapping(link.get("stats64") or link.get("stats"))
        errors = sum(
            integer(mapping(stats.get(way)).get(counter)) or 0
            for way in ("rx", "tx")
            for counter in _ERRORS[:1]
        )
        found.append(
            NetDevice(
                name=name,
                state=str(link.get("operstate", "")).upper(),
                wanted="UP" in flags,
                mtu=integer(link.get("mtu")),
                master=str(link.get("master", "")),
                physical=not (kind or _SOFTWARE.match(name)),
                errors=errors,
            )
        )
    return found


def read(text: str) -> Reading:
    """Physical devices that are set up but have no carrier; a device nobody set up is not looked at."""
    book = Notebook(KIND)
    devices = parse_links(text)
    for device in devices:
        evidence = f"{device.name}: operstate {device.state}, mtu {device.mtu}"
        if device.errors:
            book.add(
                "nic.errors.total",
                device.name,
                evidence=f"{evidence}, errors {device.errors}",
                value=device.errors,
            )
        if device.physical and device.wanted and device.state in {"DOWN", "LOWERLAYERDOWN"}:
            book.add("nic.link.down", device.name, evidence=evidence, master=device.master)
        elif device.state == "UP" and not device.errors:
            book.ok()
    if not devices:
        book.puzzled("no device in the JSON (or it is cut): " + text[:100])
    return book.reading()
