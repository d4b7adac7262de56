"""Hand-made outputs: DCGM."""

from __future__ import annotations

import json


def diag(results, top="DCGM Diagnostic", name="memory"):
    return json.dumps(
        {top: {"test_categories": [{"category": "Hardware", "tests": [{"name": name, "results": results}]}]}},
        indent=1,
    )


DIAG4_WARN = {"warning": "GPU 1 uncorrectable", "error_id": 80, "error_category": 10, "error_severity": 6}
DIAG4 = [
    {"entity_group": "GPU", "entity_id": 0, "status": "Pass"},
    {"entity_group": "GPU", "entity_id": 1, "status": "Fail", "warnings": [DIAG4_WARN]},
]
DIAG3_SLIP = [{"gpu_id": 2, "status": "Fail", "warnings": [{"warnings": "no persistence", "error_id": 29}]}]
DIAG2 = [
    {"gpu_ids": "0", "status": "Pass"},
    {"gpu_ids": "3", "status": "Fail", "warnings": "A double-bit error was seen on GPU 3."},
]
DIAG_ITER = json.dumps(
    {
        "iterations": [
            {
                "DCGM GPU Diagnostic": {
                    "test_categories": [
                        {"tests": [{"name": "PCIe", "results": [{"gpu_id": "6", "status": "FAIL"}]}]}
                    ]
                }
            }
        ],
        "Overall Result": "Fail",
    }
)
DIAG_TABLE = """\
Successfully ran diagnostic for group.
+---------------------------+------------------------------------------------+
| Diagnostic                | Result                                         |
+===========================+================================================+
|-----  Metadata  ----------+------------------------------------------------|
| DCGM Version              | 3.3.5                                          |
| Driver Version Detected   | 535.161.08                                     |
|-----  Deployment  --------+------------------------------------------------|
| Denylist                  | Pass                                           |
| Persistence Mode          | Pass                                           |
+-----  Integration  -------+------------------------------------------------+
| PCIe                      | Pass - All                                     |
+-----  Hardware  ----------+------------------------------------------------+
"""
DIAG_TABLE_WELL = (
    DIAG_TABLE + "| GPU Memory                | Pass - All                                     |\n"
)
DIAG_TABLE_BAD = (
    DIAG_TABLE
    + "| GPU Memory                | Fail - GPU: 2                                  |\n"
    + "| Warning                   | GPU 2 had uncorrectable memory errors and a pen|\n"
    + "|                           |ding row remap. Drain the GPU and reset it.     |\n"
)
DIAG_TABLE_4 = (
    DIAG_TABLE
    + "| memory                    | Fail                                           |\n"
    + "|                           | GPU0: Pass                                     |\n"
    + "|                           | GPU4: Fail                                     |\n"
)
HEALTH = """\
+---------------------------+----------------------------------------------------------+
| Health Monitor Report                                                                |
+===========================+==========================================================+
| Overall Health            | {}                                                  |
"""
HEALTH_BAD = (
    HEALTH.format("Failure")
    + "| GPU                       |                                                          |\n"
    + "| -> 5                      | Failure                                                  |\n"
    + "|    -> Errors              |                                                          |\n"
    + "|       -> Memory system    | Failure                                                  |\n"
    + "|                           | A pending row remap needs a reset of GPU 5.              |\n"
)
HEALTH_OLD = (
    HEALTH.format("Warning")
    + "| GPU ID: 3                 | Warning                                                  |\n"
    + "|                           | NVLink system: Warning - 2 link errors were seen         |\n"
)
HEALTH_JSON = json.dumps(
    {
        "body": {
            "GPU": {
                "children": {
                    "0": {
                        "value": "Warning",
                        "children": {
                            "Errors": {
                                "children": {
                                    "Thermal system": {
                                        "value": "Warning",
                                        "children": {"Text": {"value": "hot"}},
                                    }
                                }
                            }
                        },
                    }
                }
            },
            "Overall Health": {"value": "Warning"},
        },
        "header": ["Health Monitor Report"],
    },
    indent=1,
)
HEALTH_JSON_WELL = json.dumps(
    {"body": {"Overall Health": {"value": "Healthy"}}, "header": ["Health Monitor Report"]}, indent=1
)
DCGM_LOG = "2026-12-01 12:48:00.001 ERROR [77:78] [[Health]] Detected a FAILURE in health system Memory: 'DCGM_FR_UNCONTAINED_ERROR on GPU 6`\n"
