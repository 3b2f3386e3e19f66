"""A line of ``sessions.jsonl``: one time that bareline sat at a run, and the machine it found.

What measured is described once for each session: versions and the host that bareline runs on
here, the platforms in ``facts``. Every record names its session. Sessions that found the same
machine have the same number of a machine; runs of before sessions were kept have one of each.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, TypeAdapter, with_config

#: Name of the file within a run directory.
SESSIONS_FILE = "sessions.jsonl"
#: The session and the machine of what says neither.
FIRST = 1

#: More often nobody sits at a run; what counts on from the most must still be read.
MOST_SESSIONS = 1_000_000
_Number = Annotated[int, Field(ge=1, le=2 * MOST_SESSIONS)]


@with_config(ConfigDict(strict=True))
@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One time that bareline sat at a run, from its first trial until it ended.

    - `number`: from 1, as records name it.
    - `machine`: which of the machines that the run was measured on, from 1.
    - `started`: when (ISO 8601, UTC).
    - `versions`: of bareline and its libraries.
    - `host`: the machine that bareline itself ran on: its name, processor, kernel and boot.
    - `differs`: what is other than on the machine before, a line each.
    """

    number: _Number
    machine: _Number = FIRST
    started: str
    versions: Mapping[str, str]
    host: Mapping[str, str]
    differs: Sequence[str] = ()

    @property
    def moved(self) -> str:
        """Say that it went on on another machine, and what that is; empty where it did not."""
        if not self.differs:
            return ""
        when = self.started[:16].replace("T", " ")
        return f"machine {self.machine} from {when} UTC: {'; '.join(self.differs)}"


_SESSION: TypeAdapter[Session] = TypeAdapter(Session)


def session_line(session: Session) -> str:
    """Give the line, with its newline."""
    content = {**asdict(session), "differs": list(session.differs)}
    return json.dumps(content, ensure_ascii=False) + "\n"


def read_session(text: bytes) -> Session:
    """Read a line.

    Raises ValueError: it is damaged.
    """
    return _SESSION.validate_json(text)


def facts_file(run: Path, platform: str, session: int) -> Path:
    """Give where a session's facts of a platform stand."""
    folder = run / "facts"
    return (folder if session == FIRST else folder / str(session)) / f"{platform}.json"
