"""docs/reference/configuration.md, made from the dataclasses of config.py.

Run with ``python -m greenroom.controller.config_reference > docs/reference/configuration.md``.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
from collections.abc import Iterator

from greenroom.controller import config

TABLES = {
    "[controller]": config.ControllerSection,
    "[scheduler]": config.SchedulerSection,
    "[gate]": config.GateSection,
    "[check]": config.CheckSection,
    "[limits]": config.LimitsSection,
    "[recovery]": config.RecoverySection,
    "[recovery.reboot], [recovery.replace]": config.ProviderSection,
    "[groups.<name>]": config.GroupSection,
}


def reference() -> str:
    """The page."""
    lines = [
        "# Configuration",
        "",
        "`greenroom.toml`, read by `greenroom serve` and by the operator's commands (`--config` or",
        "`GREENROOM_CONFIG`; default `/etc/greenroom/greenroom.toml`). Made from the code: `make docs`.",
        "An unknown key is an error that names the file, the line and the nearest key. SIGHUP reads it anew.",
    ]
    for name, section in TABLES.items():
        lines += ["", f"## `{name}`", "", *_table(section)]
    return "\n".join(lines) + "\n"


def _table(section: type) -> Iterator[str]:
    told = _docstrings(section)
    yield "| key | type | default | |"
    yield "|---|---|---|---|"
    for field in dataclasses.fields(section):
        default = _default(field)
        text = " ".join(told.get(field.name, "").split()).replace("|", "\\|")
        yield f"| `{field.name}` | {_kind(str(field.type))} | {default} | {text} |"


def _default(field: dataclasses.Field[object]) -> str:
    if field.default_factory is not dataclasses.MISSING:
        made = field.default_factory()
        return "see its table" if dataclasses.is_dataclass(made) else "empty"
    shown = {"": "empty", False: "`false`", True: "`true`"}
    if isinstance(field.default, tuple):
        return "`" + str(list(field.default)).replace("'", '"') + "`"
    if isinstance(field.default, (str, bool)):
        return shown.get(field.default, f'`"{field.default}"`')
    return f"`{field.default:g}`" if isinstance(field.default, float) else f"`{field.default}`"


def _kind(annotation: str) -> str:
    words = {
        "str": "text",
        "int": "whole number",
        "float": "number",
        "bool": "true/false",
        "tuple[str, ...]": "list of text",
    }
    return words.get(annotation, "table")


def _docstrings(section: type) -> dict[str, str]:
    """Attribute docstrings: Python drops them, its parser does not."""
    tree = ast.parse(inspect.getsource(section)).body[0]
    assert isinstance(tree, ast.ClassDef)
    told = {}
    for one, following in zip(tree.body, tree.body[1:], strict=False):
        is_text = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and is_text:
            told[one.target.id] = str(following.value.value)  # type: ignore[attr-defined]
    return told


if __name__ == "__main__":
    print(reference(), end="")  # noqa: T201 - that is what it is for
