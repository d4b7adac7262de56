"""The docs pages of the checks, made from their declarations."""

from __future__ import annotations

from greenroom.checks.expectations import Expected, load_expected, model_files
from greenroom.checks.frame import Check, load_all
from greenroom.faults import load


def pages() -> dict[str, str]:
    """File name -> Markdown: one page a check, and an index."""
    expected = load_expected()
    made = {f"{check.name}.md": _page(check, expected) for check in load_all().values()}
    return {"README.md": _index(), **made}


def _index() -> str:
    rows = [
        f"| [{check.name}]({check.name}.md) | {check.stage} | {_cost(check)} | {check.about} |"
        for check in load_all().values()
    ]
    head = "# Checks\n\nMade by `greenroom checks --docs docs/checks`; do not edit.\n"
    return "\n".join([head, "| check | stage | cost | what it asks |", "|---|---|---|---|", *rows, ""])


def _page(check: Check, expected: Expected) -> str:
    doc = (check.function.__doc__ or "").strip().splitlines()
    lines = [
        f"# {check.name}",
        "",
        *(line.strip() for line in doc),
        "",
        f"- Stage: {check.stage}",
        f"- Cost: {_cost(check)}",
        f"- Profiles: {', '.join(check.profiles)}",
        f"- Needs: {', '.join(sorted(check.needs)) or 'nothing beyond the kernel'}",
        f"- Machines: {', '.join(sorted(check.vendors)) or 'any'}",
        "",
        "## Finds",
        "",
        "| fault | severity | meaning | first remedy | source |",
        "|---|---|---|---|---|",
    ]
    for code in sorted(check.detects):
        fault = load()[code]
        remedy = fault.remedy if fault.severity == "fail" else ""
        lines.append(f"| `{code}` | {fault.severity} | {fault.meaning} | {remedy} | {fault.source} |")
    if check.expects:
        lines += [
            "",
            "## Expects",
            "",
            "| threshold | meaning | on | value | source |",
            "|---|---|---|---|---|",
        ]
    for name in sorted(check.expects):
        lines += _expectation(name, expected)
    return "\n".join([*lines, ""])


def _expectation(name: str, expected: Expected) -> list[str]:
    """A row for any machine, and one for each model that has another value."""
    default = expected[name]
    rows = [("any machine", default)]
    for path in model_files():
        own = load_expected(site_file=path, match=False)[name]
        rows += [(path.stem, own)] if own.value != default.value else []
    return [
        f"| `{name}` | {row.meaning} | {where} | {'none' if row.value is None else row.text} | {row.source} |"
        for where, row in rows
    ]


def _cost(check: Check) -> str:
    load = f" and {check.load_share:.0%} of the profile's budget" if check.load_share else ""
    return f"{check.cost_s:g} s{load}"
