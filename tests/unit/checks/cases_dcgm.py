"""DCGM's diagnostic: one case for each error it knows."""

import json

from cases import bad, good

from greenroom.faults import codes
from greenroom.probes.host import Ran
from greenroom.probes.recorded import RecordedHost


def diag(*results: dict[str, object], rc: int = 0, **top: object) -> RecordedHost:
    """A machine whose dcgmi (version 4) says this of the test "memory"."""
    tests = [{"name": "memory", "results": list(results), "test_summary": {"status": "Pass"}}]
    text = json.dumps({"DCGM Diagnostic": {"test_categories": [{"category": "x", "tests": tests}], **top}})
    return RecordedHost(commands={"dcgmi diag": Ran(argv=(), rc=rc, stdout=text, stderr="", seconds=1.0)})


def result(gpu: int = 2, status: str = "Pass", **error: object) -> dict[str, object]:
    """What it says of one GPU."""
    row: dict[str, object] = {"entity_group": "GPU", "entity_group_id": 1, "entity_id": gpu, "status": status}
    return {**row, "warnings": [error]} if error else row


def failed(number: int) -> dict[str, object]:
    """The test failed with this error."""
    return result(status="Fail", warning="it says why", error_id=number, error_severity=6, error_category=1)


CASES = [
    good("dcgm.diag", "all pass", host=diag(*map(result, range(8)))),
    bad(
        "dcgm.diag",
        "dcgm.test.memory",
        "a test fails and does not say why",
        host=diag(result(status="Fail"), rc=1),
    ),
    *(
        bad(
            "dcgm.diag",
            code,
            f"error {code}",
            host=diag(result(0), failed(int(code.partition(".")[2])), rc=226),
        )
        for code in codes("dcgm")
        if code.partition(".")[2].isdigit()
    ),
]
