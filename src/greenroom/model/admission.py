"""The signed admission record: says that one boot of one node was admitted. Standard library only.

It is what a node's prolog can go by when nobody answers. Bound to the boot, so that a record
left in an image or written before a reboot admits nothing.
"""

from __future__ import annotations

import hmac
import json

Record = dict[str, object]
_SIGNED = ("node", "boot_id", "hardware", "run_id", "issued_at")


def sign(key: bytes, *, node: str, boot_id: str, hardware: str, run_id: str, issued_at: float) -> Record:
    """A record of the admission of ``node`` in the boot ``boot_id``; ``issued_at`` in Unix s."""
    record: Record = {
        "node": node,
        "boot_id": boot_id,
        "hardware": hardware,
        "run_id": run_id,
        "issued_at": issued_at,
    }
    return {**record, "signature": _signature(key, record)}


def verify(record: object, key: bytes, *, node: str, boot_id: str) -> str:
    """Empty if the record admits this boot of this node, else the reason why not."""
    if not isinstance(record, dict) or not all(field in record for field in (*_SIGNED, "signature")):
        return "the admission record is not one (fields are missing)"
    if not hmac.compare_digest(str(record["signature"]), _signature(key, record)):
        return "the admission record's signature is wrong"
    if record["node"] != node:
        return f"the admission record is for node {record['node']}"
    if not boot_id or record["boot_id"] != boot_id:
        return "the admission record is for another boot"
    return ""


def token(secret: bytes, run_id: str) -> str:
    """The token with which a run may bring its result home."""
    return hmac.digest(secret, f"run:{run_id}".encode(), "sha256").hex()


def _signature(key: bytes, record: Record) -> str:
    text = json.dumps([record[field] for field in _SIGNED], separators=(",", ":"))
    return hmac.digest(key, text.encode(), "sha256").hex()
