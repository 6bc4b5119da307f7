"""Python where the modes of files bind, also when root runs the tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

_WITHOUT_POWERS = ("--inh-caps=-all", "--bounding-set=-all")


def run_bound(source: str, *args: str | Path) -> str:
    """What a program prints whose user may only do what the files' modes allow."""
    bound: list[str] = []
    if os.geteuid() == 0:
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            pytest.skip("root may write everything, and there is no setpriv to run without that")
        bound = [setpriv, *_WITHOUT_POWERS]
        if subprocess.run([*bound, "true"], capture_output=True, check=False).returncode:
            pytest.skip("root may write everything, and may not give that up here")
    done = subprocess.run(
        [*bound, sys.executable, "-c", source, *map(str, args)],
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
