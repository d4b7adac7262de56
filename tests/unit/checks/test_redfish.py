"""The management controller over Redfish: what cannot be asked, and a real service over HTTP and TLS."""

from __future__ import annotations

import base64
import json
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from cases_redfish import (
    ASKED,
    CRITICAL,
    NETRC,
    NOW,
    ROOT,
    URL,
    WELL,
    bmc,
    collection,
    entry,
    kind,
    part,
    resources,
    to,
)
from healthy import ask, codes, expect

from greenroom.checks.frame import NotApplicable
from greenroom.parsers import registry
from greenroom.probes.host import LocalHost, ProbeUnavailable, Ran
from greenroom.probes.recorded import RecordedHost


def test_nobody_is_asked_where_no_address_is_named():
    assert isinstance(ask("bmc.redfish", host=RecordedHost()), NotApplicable)


def test_a_password_that_others_may_read_is_not_used():
    machine = bmc(resources(), mode="644")
    with pytest.raises(ProbeUnavailable, match=f"chmod 600 {NETRC}"):
        ask("bmc.redfish", host=machine, expected=ASKED)
    assert [argv[0] for argv in machine.ran] == ["stat"]


@pytest.mark.parametrize(
    ("stdout", "stderr", "said"),
    [
        ("{}\n@greenroom 401\n", "", "refuses us"),
        ("<html>\n@greenroom 404\n", "", "no Redfish service: 404"),
        ("\n@greenroom 000\n", "curl: (60) SSL certificate problem: self-signed certificate", "self-signed"),
        ("", "curl: (7) Failed to connect", "Failed to connect"),
        ("garbage", "", "no answer"),
        ('{"Systems": 7, "Chassis": [[]]}\n@greenroom 200\n', "", "shows no health"),
    ],
)
def test_a_controller_that_does_not_tell_is_no_pass(stdout, stderr, said):
    answer = Ran(argv=(), rc=0, stdout=stdout, stderr=stderr, seconds=0.0)
    machine = RecordedHost(
        files={"/proc/uptime": "7200 1"}, commands={"curl": answer, "stat": "600\n"}, clock=NOW
    )
    with pytest.raises(ProbeUnavailable, match=said):
        ask("bmc.redfish", host=machine, expected=ASKED)


def test_only_what_can_tell_is_asked_and_modules_only_if_the_system_is_unwell():
    asked = []
    for memory in (WELL, CRITICAL):
        machine = bmc(resources(memory=memory))
        ask("bmc.redfish", host=machine, expected=ASKED)
        asked.append(
            {word.removeprefix(URL) for argv in machine.ran for word in argv if word.startswith(URL)}
        )
        assert not any("-X" in argv or "-d" in argv for argv in machine.ran)
    assert f"{ROOT}/Systems/1/Memory/A1" in asked[1] - asked[0]
    assert not any("Dump" in path for path in asked[1])


def test_addresses_of_others_are_not_followed_and_endless_ones_end():
    known = resources()
    known["Chassis"] = {
        "Members": [{"@odata.id": "https://elsewhere/redfish/v1/x"}, {"@odata.id": "-o/etc/passwd"}]
    }
    known["Managers"] = collection(*(f"Managers/{index}" for index in range(1000)))
    machine = bmc(known)
    looked = ask("bmc.redfish", host=machine, expected=ASKED).looked
    words = {word for argv in machine.ran for word in argv}
    assert not any("elsewhere" in word or "passwd" in word for word in words)
    assert looked["left_out"] > 0
    assert sum(word.startswith(URL) for word in words) <= 140


def test_the_end_of_a_long_log_is_read():
    known = resources()
    log = "Systems/1/LogServices/SEL/Entries"
    known[log] |= {"Members@odata.count": 500}
    known[f"{log}?$skip=400"] = {"Members": [entry(500, "Fan", "Lower Critical going low")]}
    assert codes(ask("bmc.redfish", host=bmc(known), expected=ASKED)) == ["host.fan"]


def test_events_since_the_admission_count():
    new = resources(entry(2, "Processor", "IERR", created="2026-12-01T12:45:00+01:00"))
    assert codes(ask("bmc.redfish", host=bmc(new), expected=ASKED, since=NOW - 1300)) == [
        "host.mce.uncorrected"
    ]
    assert codes(ask("bmc.redfish", host=bmc(new), expected=ASKED, since=NOW)) == []


def test_a_pasted_resource_is_read():
    thermal = kind(
        "Thermal", Fans=[part("Fan 2", CRITICAL, Reading=0, ReadingUnits="RPM")], **to("Chassis/1/Thermal")
    )
    reading = registry.read(json.dumps(thermal, indent=2))
    assert (reading.kind, [(one.code, one.device) for one in reading.sightings]) == (
        "redfish",
        [("host.fan", "Fan 2")],
    )
    assert "0 RPM" in reading.sightings[0].evidence
    assert not registry.read(json.dumps(thermal).replace("Critical", "OK")).sightings


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        known = self.server.known
        told = self.headers.get("Authorization", "").removeprefix("Basic ")
        path = self.path.removeprefix(ROOT).strip("/")
        allowed = path == "" or base64.b64decode(told) == b"reader:se cret"
        document = known.get(path)
        body = json.dumps(document if document is not None else {"error": {}}).encode()
        self.send_response(401 if not allowed else 200 if document is not None else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def served(tmp_path):
    """A service with TLS, its certificate, and a netrc file."""
    cert, key, netrc = tmp_path / "cert.pem", tmp_path / "key.pem", tmp_path / "netrc"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(cert)],
        check=True, capture_output=True,
    )  # fmt: skip
    netrc.write_text('machine 127.0.0.1 login reader password "se cret"\n')
    netrc.chmod(0o600)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield (
        server,
        {
            "bmc__redfish_url": f"https://127.0.0.1:{server.server_port}/",
            "bmc__redfish_netrc": str(netrc),
            "bmc__redfish_ca": str(cert),
        },
    )
    server.shutdown()
    server.server_close()


def test_a_real_service_is_read_and_its_certificate_checked(served):
    server, named = served
    server.known = resources(fan=CRITICAL)
    answer = ask("bmc.redfish", host=LocalHost(), expected=expect(**named))
    assert codes(answer) == ["host.fan"]
    assert answer.looked["events"] == 1
    assert answer.looked["refused"] == 0
    with pytest.raises(ProbeUnavailable, match="certificate"):
        ask("bmc.redfish", host=LocalHost(), expected=expect(**named | {"bmc__redfish_ca": None}))
    with pytest.raises(ProbeUnavailable, match=r"refuses us \(401\), with no bmc.redfish_netrc"):
        ask("bmc.redfish", host=LocalHost(), expected=expect(**named | {"bmc__redfish_netrc": None}))
