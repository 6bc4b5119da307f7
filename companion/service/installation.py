"""The installed program: a git clone with .venv, or a wheel in a venv; changed and put back.

Before a change the venv is copied as hard links, which costs no space: pip replaces files, it
never writes into them. The way back needs no network.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import pwd
import socket
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from companion.errors import ServiceError
from companion.service.exchange import exchange
from companion.service.programs import Run, captured

WITHIN_S = 1800.0
"""Seconds that one command may take: pip on a slow card and a slow line."""

BEFORE, AFTER = "refs/dice-companion/before-update", "refs/dice-companion/update"
"""Git's names for the commit to go back to, and for the one whose files are being written."""

REFUSED = ".refused"
"""File in the venv that `go_back` exchanges: it tells which of the two was put back."""

_FOLLOWED = (
    "git",
    "for-each-ref",
    "--format=%(if)%(HEAD)%(then)%(upstream:remotename) %(upstream:remoteref)%(end)",
    "refs/heads",
)
"""Tells the remote and the branch that the present branch follows; nothing if it follows none."""

# Else a plug pulled within half a minute of a fetch leaves empty objects, and no fetch works again.
_GIT_ON_THE_DISK = {
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "core.fsync",
    "GIT_CONFIG_VALUE_0": "all",
}


def own_version() -> str:
    """The version of the running program; "0" in a folder that is not installed."""
    try:
        return version("dice-companion")
    except PackageNotFoundError:
        return "0"


def run_as_owner(place: Path, cwd: Path | None = None) -> Run:
    """Return what runs commands as a directory's owner where this process is root.

    So `sudo` leaves no file in somebody's clone that they cannot change later.

    Args:
        cwd: Where they are run; in the directory itself unless given.
    Raises:
        ServiceError: The owner has no account.
    """
    owner = place.stat().st_uid
    more = {}
    environ = {**os.environ, **_GIT_ON_THE_DISK, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C.UTF-8"}
    if os.geteuid() == 0 and owner != 0:
        try:
            person = pwd.getpwuid(owner)
        except KeyError as error:
            raise ServiceError(f"{place}: its owner {owner} has no account here") from error
        groups = os.getgrouplist(person.pw_name, person.pw_gid)
        more = {"user": owner, "group": person.pw_gid, "extra_groups": groups}
        environ |= {"HOME": person.pw_dir, "USER": person.pw_name, "LOGNAME": person.pw_name}

    def run(command: Sequence[str]) -> str:
        try:
            ran = captured(command, environ, WITHIN_S, cwd=cwd or place, **more)
        except FileNotFoundError as error:
            raise ServiceError(f"update: {command[0]} is not installed") from error
        except (OSError, subprocess.SubprocessError) as error:
            raise ServiceError(f"update: {command[0]}: {error}") from error
        if ran.returncode:
            lines = (ran.stderr or ran.stdout).strip().splitlines()
            name = " ".join(Path(command[0]).name.split() + list(command[1:3]))
            last = lines[-1] if lines else "failed"
            # git writes hints after it
            why = next((line for line in lines if line.startswith(("fatal:", "error:"))), last)
            raise ServiceError(f"update: {name}: {why}")
        return ran.stdout

    return run


class Installation(ABC):
    """A program in a venv that can be changed and put back.

    Attributes:
        python: The venv's interpreter, before and after a change.
    """

    def __init__(self, venv: Path, run: Run) -> None:
        """Take the venv, and what runs commands as its owner."""
        self._venv, self._run = venv, run
        self._copy = venv.with_name(f"{venv.name}.before-update")  # whole, whenever it is there
        self._gone = venv.with_name(f"{venv.name}.refused")
        self.python = str(venv / "bin" / "python")

    @contextmanager
    def only_one(self) -> Iterator[None]:
        """Keep a second update of this program out, by a name that the system frees at the end.

        A lock on the venv's folder would keep out the restore of games beside the venv, too.

        Raises:
            ServiceError: Another one is running.
        """
        place = hashlib.sha256(os.fsencode(self._venv.resolve())).hexdigest()
        with socket.socket(socket.AF_UNIX) as held:
            try:
                held.bind(f"\0dice-companion-update-{place}")
            except OSError as error:  # only Linux has such names
                if error.errno == errno.EADDRINUSE:
                    text = "update: another one is running; wait for its end"
                    raise ServiceError(text) from error
            yield

    @property
    def was_cut_off(self) -> bool:
        """Whether an earlier change did not come to its end, as after a power cut."""
        return self._copy.exists()

    @property
    @abstractmethod
    def version(self) -> str:
        """The installed version, for people."""

    @abstractmethod
    def newer(self) -> str:
        """Return the version that a change would install; "" if there is none.

        Raises:
            ServiceError: It cannot be found out.
        """

    @property
    @abstractmethod
    def steps(self) -> list[str]:
        """The commands of a change, for people."""

    def change(self) -> None:
        """Install the newer version.

        Raises:
            ServiceError: It cannot be installed; `go_back` puts the old one back.
        """
        self._remember()
        part = str(self._venv.with_name(f"{self._venv.name}.copying"))
        self._run(["rm", "-rf", part, str(self._venv / REFUSED)])  # the copy must not have it
        self._run(["cp", "--archive", "--link", str(self._venv), part])
        self._run(["mv", "--no-target-directory", part, str(self._copy)])
        self._change()
        self._sync()  # trying it out takes a while, and without its files not even update starts

    @abstractmethod
    def _remember(self) -> None:
        """Note what is needed to go back, besides the venv."""

    @abstractmethod
    def _change(self) -> None: ...

    def go_back(self) -> None:
        """Put the version before the last change back.

        Raises:
            ServiceError: It cannot be done.
        """
        if not self._copy.exists():  # nothing was changed yet
            return
        if not (self._copy / REFUSED).exists():  # else a plug was pulled after the exchange
            self._restore()
            self._run(["touch", str(self._venv / REFUSED)])
            self._sync()
            if not self._exchange():
                self._put_away(self._venv)
                self._run(["mv", "--no-target-directory", str(self._copy), str(self._venv)])
        if self._copy.exists():
            self._put_away(self._copy)
        self._run(["rm", "-rf", str(self._gone)])

    def _exchange(self) -> bool:
        try:
            return exchange(self._copy, self._venv)
        except OSError as error:
            raise ServiceError(f"update: {self._venv}: {error.strerror}") from error

    @abstractmethod
    def _restore(self) -> None:
        """Put back what `_remember` noted."""

    def _put_away(self, venv: Path) -> None:
        """Take a venv out of the way at once; deleting it takes a while."""
        self._run(["rm", "-rf", str(self._gone)])
        self._run(["mv", "--no-target-directory", str(venv), str(self._gone)])

    def keep(self) -> None:
        """Stay with the newer version; there is no way back any more.

        It is on the disk first, as is the older one in `go_back`.
        """
        self._sync()
        self._put_away(self._copy)
        self._run(["rm", "-rf", str(self._gone)])

    def _sync(self) -> None:
        """Wait for the disk: neither pip nor git does, and a pulled plug would empty files."""
        self._run(["sync", "--file-system", str(self._venv.parent)])


class Clone(Installation):
    """A git clone that follows a branch, with its .venv."""

    def __init__(self, root: Path, run: Run) -> None:
        """Take the clone's directory."""
        super().__init__(root / ".venv", run)
        settings = root / ".venv" / "pyvenv.cfg"
        sees_system = settings.is_file() and "packages = true" in settings.read_text()
        self._setup = [".ci/setup", "pi" if sees_system else "play"]

    @property
    def version(self) -> str:
        """Its short commit."""
        return self._commit("HEAD")

    def newer(self) -> str:
        """Fetch the followed branch; its short commit if the clone is behind.

        What stands in the way is told here, while the table is still running.
        """
        self._unlock()
        # by its name: a plain fetch does not tell that the branch is gone
        self._run(["git", "fetch", "--quiet", *self._run(_FOLLOWED).split()])
        newest = self._commit("@{upstream}")
        count = ["git", "rev-list", "--left-right", "--count", "HEAD...@{upstream}"]
        own, missing = map(int, self._run(count).split())
        if own and missing:
            raise ServiceError(
                f"update: {own} of this clone's commits are not in the followed branch; "
                "git rebase puts them on top of it"
            )
        if missing:
            self._refuse_changed_files()
        return newest if missing else ""

    @property
    def steps(self) -> list[str]:
        """The commands of a change."""
        return ["git fetch", "git merge --ff-only @{upstream}", " ".join(self._setup)]

    def _commit(self, name: str) -> str:
        return self._run(["git", "rev-parse", "--short=10", name]).strip()

    def _unlock(self, *names: str) -> None:
        """Delete the locks of git's names, and of some more, that a pulled plug may have left."""
        names = ("refs", "packed-refs", *names)
        asked = (each for name in names for each in ("--git-path", name))
        refs, *more = self._run(["git", "rev-parse", *asked]).splitlines()
        self._run(["find", refs, "-name", "*.lock", "-delete"])
        self._run(["rm", "-f", *(f"{path}.lock" for path in more)])

    def _remember(self) -> None:
        self._run(["git", "update-ref", "-d", AFTER])
        self._run(["git", "update-ref", BEFORE, "HEAD"])

    def _change(self) -> None:
        self._refuse_changed_files()
        self._run(["git", "update-ref", AFTER, "@{upstream}"])
        self._run(["git", "merge", "--ff-only", "--quiet", "@{upstream}"])
        self._sync()
        self._run(self._setup)

    def _refuse_changed_files(self) -> None:
        self._run(["git", "status", "--short"])  # so that only real changes stand in the way
        self._run(["git", "read-tree", "-m", "-u", "--dry-run", "HEAD", "@{upstream}"])

    def _restore(self) -> None:
        """Put the commit back; files that somebody changed by hand stay.

        A merge that was cut off may have written any of its files, and has left its locks. None of
        them was changed by hand: the merge would have been refused.
        """
        self._unlock("index", "HEAD", "ORIG_HEAD")
        was: list[str] = []
        if self._run(["git", "for-each-ref", AFTER]):
            was, new = (self._changed(kind) for kind in ("DMT", "A"))
            # a folder that became a file may be there still; a checkout takes the file away
            new = [each for each in new if not any(old.startswith(f"{each}/") for old in was)]
            self._run(["rm", "-f", "--", *new])  # first: they may have filled the disk
        self._run(["git", "reset", "--quiet", BEFORE])
        if was:
            self._run(["git", "checkout", "--quiet", BEFORE, "--", *was])

    def _changed(self, kinds: str) -> list[str]:
        """Paths that the update deletes, modifies or turns into links (DMT), or adds (A)."""
        names = ["git", "diff", "--name-only", "--no-renames", "-z", f"--diff-filter={kinds}"]
        return self._run([*names, BEFORE, AFTER]).split("\0")[:-1]


class Wheel(Installation):
    """A wheel in a venv."""

    def __init__(self, venv: Path, run: Run, wheel: Path | None = None) -> None:
        """Take the venv, and a wheel to install in place of the newest one of the index."""
        super().__init__(venv, run)
        self._wanted = str(wheel.absolute()) if wheel is not None else "dice-companion"
        self._pip = [self.python, "-m", "pip", "--disable-pip-version-check"]

    @property
    def version(self) -> str:
        """Its version."""
        shown = self._run([*self._pip, "show", "dice-companion"])
        told = dict(line.partition(": ")[::2] for line in shown.splitlines())
        return told.get("Version", "0")

    def newer(self) -> str:
        """Ask pip for the version that it would install."""
        options = ["--quiet", "--dry-run", "--no-deps", "--upgrade", "--report", "-"]
        report = self._run([*self._pip, "install", *options, self._wanted])
        found = json.loads(report[report.index("{") :])["install"]
        return str(found[0]["metadata"]["version"]) if found else ""

    @property
    def steps(self) -> list[str]:
        """The command of a change."""
        return [f"pip install --upgrade {self._wanted}"]

    def _remember(self) -> None:
        """Nothing: the venv is all there is."""

    def _restore(self) -> None:
        """Nothing, likewise."""

    def _change(self) -> None:
        self._run([*self._pip, "install", "--quiet", "--upgrade", self._wanted])


def this_installation(wheel: Path | None) -> Installation:
    """Return how the running program is installed.

    Args:
        wheel: A wheel to install; not for a clone.
    Raises:
        ServiceError: It is neither a clone with .venv nor in a venv.
    """
    import companion

    root = Path(companion.__file__).resolve().parents[1]
    venv = Path(sys.prefix)
    if (root / ".ci" / "setup").is_file():
        if wheel is not None:
            raise ServiceError(f"{wheel}: expected no wheel, {root} is updated by git")
        if not (root / ".git").exists() or venv.resolve() != (root / ".venv").resolve():
            raise ServiceError(f"{root}: expected a git clone with its own .venv")
        return Clone(root, run_as_owner(root))
    if sys.prefix == sys.base_prefix:
        raise ServiceError(f"{venv}: expected a venv (python3 -m venv), got the system's Python")
    return Wheel(venv, run_as_owner(venv, Path("/")), wheel)  # the venv itself is moved
