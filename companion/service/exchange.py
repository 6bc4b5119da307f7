"""Exchange two folders so that at every moment both are there."""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path


def exchange(one: Path, other: Path) -> bool:
    """Exchange the names of two folders in one step; False where the disk cannot."""
    swap = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)  # Linux has it
    here, flag = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    if swap is None:
        return False
    if swap(here, os.fsencode(one), here, os.fsencode(other), flag) == 0:
        return True
    if ctypes.get_errno() in (errno.EINVAL, errno.ENOSYS, errno.EXDEV):  # EXDEV: an overlay
        return False
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
