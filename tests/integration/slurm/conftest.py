from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest

from greenroom.lab.cluster import Cluster, missing_here
from greenroom.schedulers.slurm import SlurmScheduler


def pytest_collection_modifyitems(items):
    here = Path(__file__).parent
    why = missing_here()
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.slurm)
            if why:
                item.add_marker(pytest.mark.skip(reason=why))


@pytest.fixture(scope="session")
def lab_dir():
    # Not pytest's own directory: an ordinary user's job has to get through to its script.
    folder = Path(tempfile.mkdtemp(prefix="greenroom-lab-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def cluster(lab_dir):
    names = [f"n{i:02d}" for i in range(1, 17)]
    with Cluster(lab_dir / "backend", nodes=names, born_held=False, prolog=False) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def fresh(cluster):
    """Gives each test nodes nobody has touched yet."""
    left = iter(cluster.nodes)
    return lambda: next(left)


@pytest.fixture
def slurm(cluster):
    return SlurmScheduler.from_settings({"conf": str(cluster.conf)})
