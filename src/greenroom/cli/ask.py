"""`greenroom ask`: is this boot of this node admitted? The prolog's question, answered fast.

Standard library only (the start-up rule). Asked in this order: the local agent, the controller, the
signed record on disk. A clear "no" is final; no answer at all is a "no" too (fail closed).
"""

from __future__ import annotations

import json
import os
import socket
import sys

USAGE = """usage: greenroom ask [--node NAME] [--controller URL] [--socket PATH] [--state-dir DIR]
                     [--key-file FILE] [--timeout SECONDS]
Exit code 0: admitted; 1: not admitted, with the reason on standard error."""
BOOT_ID = "/proc/sys/kernel/random/boot_id"
DEFAULTS = {
    "--node": ("SLURMD_NODENAME", ""),
    "--controller": ("GREENROOM_CONTROLLER", ""),
    "--socket": ("GREENROOM_SOCKET", "/run/greenroom/agent.sock"),
    "--state-dir": ("GREENROOM_STATE_DIR", "/var/lib/greenroom"),
    "--key-file": ("GREENROOM_KEY_FILE", "/etc/greenroom/admission.key"),
    "--timeout": ("GREENROOM_ASK_TIMEOUT_S", "2"),
}


def main(argv: list[str]) -> int:
    """Answer by exit code: 0 admitted, 1 not, 64 wrong usage."""
    options = {name: os.environ.get(variable) or default for name, (variable, default) in DEFAULTS.items()}
    rest = list(argv)
    while rest:
        name, _, value = rest.pop(0).partition("=")
        if name in ("-h", "--help"):
            print(USAGE)
            return 0
        if name not in options or not (value or rest):
            print(f"greenroom ask: {name!r} is not understood\n{USAGE}", file=sys.stderr)
            return 64
        options[name] = value or rest.pop(0)
    if _is_our_check():
        return 0
    node = options["--node"] or socket.gethostname().split(".", 1)[0]
    try:
        timeout_s = float(options["--timeout"])
    except ValueError:
        print(f"greenroom ask: --timeout: expected seconds, got {options['--timeout']!r}", file=sys.stderr)
        return 64
    yes, reason = _ask(options, node, timeout_s)
    if yes:
        return 0
    print(f"greenroom: {node} is not admitted: {reason}", file=sys.stderr)
    print(f"greenroom: next step: greenroom explain {node}", file=sys.stderr)
    return 1


def _is_our_check() -> bool:
    """Root's own job in our reservation: the check that decides about the admission."""
    ours = os.environ.get("SLURM_JOB_RESERVATION", "").startswith("greenroom-")
    return ours and os.environ.get("SLURM_JOB_UID") == "0"


def _ask(options: dict[str, str], node: str, timeout_s: float) -> tuple[bool, str]:
    try:
        with open(BOOT_ID, encoding="ascii") as file:  # noqa: PTH123 - pathlib costs start-up time
            boot_id = file.read().strip()
    except OSError as error:
        return False, f"the boot id cannot be read: {error}"
    silent = []
    for source in (_agent, _controller):
        try:
            answer = source(options, node, boot_id, timeout_s)
        except (OSError, ValueError) as error:
            silent.append(f"{source.__name__.strip('_')}: {error}")
            continue
        if answer is not None:
            return bool(answer.get("admitted")) is True, str(answer.get("reason", "no reason given"))
    wrong = _record(options, node, boot_id)
    silent.append(f"local record: {wrong}")
    return not wrong, "; ".join(silent)


def _agent(options: dict[str, str], node: str, boot_id: str, timeout_s: float) -> dict[str, object] | None:
    """One line of JSON each way over the agent's Unix socket."""
    path = options["--socket"]
    if not os.path.exists(path):  # noqa: PTH110 - pathlib costs start-up time
        return None
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as channel:
        channel.settimeout(timeout_s)
        channel.connect(path)
        channel.sendall(json.dumps({"ask": "admitted", "node": node, "boot_id": boot_id}).encode() + b"\n")
        return _answer(_line(channel))


def _controller(
    options: dict[str, str], node: str, boot_id: str, timeout_s: float
) -> dict[str, object] | None:
    """HTTP to the controller; plain sockets for http, http.client only where TLS is wanted."""
    if not options["--controller"]:
        return None
    scheme, host, port, base = _split(options["--controller"])
    path = f"{base}/api/v1/nodes/{_quoted(node)}/admitted?boot_id={_quoted(boot_id)}"
    if scheme == "https":
        import http.client  # dear, and only needed for TLS
        import ssl

        context = ssl.create_default_context()
        secure = http.client.HTTPSConnection(host, port, timeout=timeout_s, context=context)
        secure.request("GET", path)
        response = secure.getresponse()
        return _http_answer(response.status, response.read(65_536))
    with socket.create_connection((host, port), timeout=timeout_s) as channel:
        channel.settimeout(timeout_s)
        head = f"GET {path} HTTP/1.0\r\nHost: {host}\r\nAccept: application/json\r\n\r\n"
        channel.sendall(head.encode())
        text = _all(channel)
    head_bytes, _, body = text.partition(b"\r\n\r\n")
    status = head_bytes.split(b" ", 2)[1:2]
    return _http_answer(int(status[0]) if status else 0, body)


def _split(url: str) -> tuple[str, str, int, str]:
    """Scheme, host, port and path of a URL (urllib.parse costs more than all the rest)."""
    scheme, _, rest = url.partition("://")
    address, _, path = rest.partition("/")
    host, colon, port = address.rpartition(":")
    if not colon or address.endswith("]"):  # no port; [::1] has colons of its own
        host, port = address, {"http": "80", "https": "443"}.get(scheme, "")
    host = host.strip("[]")
    if scheme not in ("http", "https") or not host or not port.isdigit():
        raise ValueError(f"expected http://host:port, got {url!r}")
    path = path.rstrip("/")
    return scheme, host, int(port), f"/{path}" if path else ""


def _quoted(text: str) -> str:
    """Percent-encoded for a URL."""
    safe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    return "".join(chr(byte) if chr(byte) in safe else f"%{byte:02X}" for byte in text.encode())


def _http_answer(status: int, body: bytes) -> dict[str, object]:
    """The controller's answer; an error of its is no answer."""
    if status != 200:
        raise ValueError(f"HTTP status {status}")
    return _answer(body)


def _answer(text: bytes) -> dict[str, object]:
    answer = json.loads(text)
    if not isinstance(answer, dict) or not isinstance(answer.get("admitted"), bool):
        raise ValueError("the answer is not understood")  # noqa: TRY004 - it came from outside
    return answer


def _line(channel: socket.socket) -> bytes:
    text = b""
    while b"\n" not in text and len(text) < 65_536 and (part := channel.recv(65_536)):
        text += part
    return text


def _all(channel: socket.socket) -> bytes:
    text = b""
    while len(text) < 65_536 and (part := channel.recv(65_536)):
        text += part
    return text


def _record(options: dict[str, str], node: str, boot_id: str) -> str:
    """Empty if the signed record on disk admits this boot, else the reason why not."""
    from greenroom.model.admission import verify

    try:
        with open(options["--key-file"], encoding="ascii") as file:  # noqa: PTH123
            key = file.read().strip().encode()
        with open(os.path.join(options["--state-dir"], "admission.json"), encoding="utf-8") as file:  # noqa: PTH118, PTH123
            record = json.load(file)
    except OSError as error:
        return str(error)
    except ValueError:
        return "not readable"
    return verify(record, key, node=node, boot_id=boot_id)
