"""Stand-in AMD GPUs: builds the stand-in library for the unmodified Python binding."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

from greenroom.lab.gpus import COMPILER_TIMEOUT_S, LabError

SOURCE = Path(__file__).with_name("amd.c")
LIBRARY = "libamd_smi.so"
FLAGS = ("-O1", "-Wall", "-Wextra", "-shared", "-fPIC", "-fvisibility=hidden", f"-Wl,-soname,{LIBRARY}")


def build_amd_driver(folder: Path) -> Path:
    """Compile the stand-in, once for each version of it and of the binding; the folder for LD_LIBRARY_PATH.

    The binding looks up every function of the library as it is imported: what amd.c does not have is
    added as a function that answers NOT_SUPPORTED.

    Raises:
        LabError: no C compiler, no binding (amdsmi), or the compiler failed.
    """
    own = SOURCE.read_text(encoding="utf-8")
    have = set(re.findall(r"^API (\w+)\(", own, re.MULTILINE))
    stubs = "".join(f"API {name}(void) {{ return NOT_SUPPORTED; }}\n" for name in sorted(_asked() - have))
    source = own + stubs
    place = folder / f"amd-{hashlib.sha256((source + ' '.join(FLAGS)).encode()).hexdigest()[:16]}"
    library = place / LIBRARY
    if library.exists():
        return place
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        raise LabError("no C compiler (cc); on Debian: apt install gcc libc6-dev")
    place.mkdir(parents=True, exist_ok=True)
    draft = place / f".draft.{os.getpid()}"
    argv = [compiler, *FLAGS, "-x", "c", "-", "-o", str(draft)]
    ran = subprocess.run(
        argv, input=source, capture_output=True, text=True, timeout=COMPILER_TIMEOUT_S, check=False
    )
    if ran.returncode != 0:
        raise LabError(f"the stand-in AMD driver does not compile: {ran.stderr[-2000:]}")
    draft.replace(library)
    return place


def _asked() -> set[str]:
    """Names that the installed binding looks up; its wrapper is read, not imported."""
    found = importlib.util.find_spec("amdsmi")
    if found is None or not found.origin:
        raise LabError("the Python binding is not installed; pip install amdsmi")
    text = Path(found.origin).with_name("amdsmi_wrapper.py").read_text(encoding="utf-8")
    return set(re.findall(r"_libraries\['libamd_smi\.so'\]\.(\w+)", text))
