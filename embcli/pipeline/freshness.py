"""Which artifacts are up to date: by the digests of everything that decides their bytes, never by time.

Beside the artifacts stands ``.run/steps/NAME.json``: the key under which each was made, and its digest. A key is sha256
of the program's version, the step, the recorded options, the seed, and the digests of inputs and of files that options
name. So a step whose input was made anew, but came out the same, stays up to date.

Times serve only to save work: a text is read and an artifact is checked byte by byte unless the file system says that
the file has not been touched since this was done last.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from embcli import __version__
from embcli.artifacts import store
from embcli.artifacts.identify import show
from embcli.errors import EmbcliError, InputError
from embcli.pipeline.cells import Build, path_of
from embcli.pipeline.execute import file_digest
from embcli.spec import recorded
from embcli.text.corpus import Corpus

#: seconds after which a change of a file certainly changes its times; some file systems count in two
_SETTLED = 2.5


class Records:
    """What is known about the artifacts in one folder.

    Parameters
    ----------
    out : the folder; it need not exist before ``keep``.
    force : believe nothing that was written down before.
    """

    def __init__(self, out: str, force: bool = False) -> None:
        self.folder = os.path.join(out, ".run")
        self._texts_file = os.path.join(self.folder, "texts.json")
        self._checked: dict[str, dict[str, Any]] = {}  # records of artifacts that were checked anew
        self._force = force
        known = {} if force else _load(self._texts_file)
        self._texts = {name: mark for name, mark in known.items() if isinstance(mark, list) and len(mark) == 5}
        self._changed = False

    def key(self, build: Build, digests: Mapping[Build, str]) -> str:
        """Return the key of an artifact; ``digests`` has the digest of every artifact that it needs.

        Raises InputError if an input cannot be read, KindError if an artifact is none.
        """
        files = {each.out: digests[each] for each in build.files}
        options: dict[str, Any] = {}
        for f, value in recorded(build.params):
            if f.opt.file and value is not None:
                paths = value if isinstance(value, tuple) else (value,)
                value = [files.get(path) or self._content(path) for path in paths]
            options[f.name] = value
        inputs = [
            digests[each] if isinstance(each, Build) else self._input(build, path_of(each)) for each in build.inputs
        ]
        what = [__version__, build.step.name, options, build.seed, inputs]
        return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()

    def up_to_date(self, build: Build, key: str) -> str | None:
        """Return the digest of an artifact that is there, whole, and was made under this key; else None.

        One that was touched since it was written or checked last is checked byte by byte.
        """
        if self._force:
            return None
        record = _load(self._record(build))
        if record.get("key") != key:
            return None
        try:
            mark = _mark(os.stat(build.out))
            digest = store.digest(build.out)
            if digest != record.get("digest"):
                return None
            if mark != record.get("mark"):
                store.verify(build.out)
                self._checked[self._record(build)] = record | {"mark": mark}
        except (EmbcliError, OSError):
            return None
        return digest

    def keep(self, build: Build, key: str, digest: str) -> None:
        """Write down under which key an artifact was made."""
        _save(self._record(build), {"key": key, "digest": digest, "mark": _mark(os.stat(build.out))})
        self.save()

    def save(self) -> None:
        """Write down the digests of texts that had to be read and the marks of artifacts that were checked, if any."""
        while self._checked:
            _save(*self._checked.popitem())
        if self._changed:
            _save(self._texts_file, self._texts)
            self._changed = False

    def log(self, build: Build, seconds: float, digest: str) -> None:
        """Add a line to OUT/log.jsonl: what was made, when, and how long it took."""
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        line = {"when": when, "artifact": build.name, "use": build.step.name, "seconds": round(seconds, 3)}
        with open(os.path.join(os.path.dirname(self.folder), "log.jsonl"), "a", encoding="utf-8") as file:
            file.write(json.dumps(line | {"digest": digest}) + "\n")

    def _record(self, build: Build) -> str:
        return os.path.join(self.folder, "steps", f"{build.name}.json")

    def _input(self, build: Build, path: str) -> Any:
        """Return the digests of the files of a text, in reading order, or the digest of an artifact."""
        if build.step.reads == ("text",):
            return [self._content(each) for each in Corpus([path]).files]
        return store.digest(path)

    def _content(self, path: str) -> str:
        """Return the digest of a file's bytes, known from before if the file was not touched since."""
        try:
            found = os.stat(path)
            if not stat.S_ISREG(found.st_mode):
                raise InputError(f"{show(path)}: is no ordinary file; an experiment reads its inputs again and again")
            name, mark = os.path.realpath(path), _mark(found)
            if self._texts.get(name, [])[:-1] == mark:
                return str(self._texts[name][-1])
            digest = file_digest(path)
        except OSError as e:
            raise InputError(f"{show(path)}: cannot be read: {e.strerror or e}") from None
        if time.time() - max(found.st_mtime, found.st_ctime) > _SETTLED:
            self._texts[name] = [*mark, digest]
            self._changed = True
        return digest


def times(out: str) -> dict[tuple[str, str], float]:
    """Return the seconds that artifacts took, by name and digest, as OUT/log.jsonl has them; the last time counts."""
    found: dict[tuple[str, str], float] = {}
    with suppress(OSError), open(os.path.join(out, "log.jsonl"), encoding="utf-8", errors="replace") as file:
        for text in file:
            with suppress(ValueError, KeyError, TypeError):
                line = json.loads(text)
                found[str(line["artifact"]), str(line["digest"])] = float(line["seconds"])
    return found


def _mark(found: os.stat_result) -> list[int]:
    """Return what changes when a file is written or replaced, even by one of the same size and date."""
    return [found.st_size, found.st_mtime_ns, found.st_ino, found.st_ctime_ns]


def _load(path: str) -> dict[str, Any]:
    """Return a JSON object, empty where there is none: what cannot be read is not up to date."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _save(path: str, value: Mapping[str, Any]) -> None:
    with store.open_target(path) as file:
        file.write(json.dumps(value).encode())
