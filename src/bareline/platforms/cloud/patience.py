"""How long to wait when a cloud does not answer or asks for patience, and when to give up."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import TypeVar

from bareline.platforms.cloud.provider import Busy
from bareline.vocabulary.errors import NotNow

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BackOff:
    """Pauses that double, up to a longest one, until a time is over.

    - `first_s`, `longest_s`: of the pauses.
    - `most_s`: all pauses together; what a cloud asks for is waited for if it fits in.
    - `waits_for_silent`: ask again where no answer came at all: most likely nothing is there.
    """

    first_s: float = 1.0
    longest_s: float = 30.0
    most_s: float = 180.0
    waits_for_silent: bool = True

    def own_s(self, failures: int) -> float:
        """Give the pause after a number of failures, whatever the cloud asks for."""
        return min(self.first_s * 2.0 ** (failures - 1), self.longest_s)

    def pause_s(self, failures: int, waited_s: float, asked_s: float | None) -> float | None:
        """Give the pause after a number of failures; None where it is time to give up.

        - `waited_s`: in pauses before.
        - `asked_s`: for how long the cloud asks to be left alone, if it says so.
        """
        own_s = self.own_s(failures)
        pause_s = own_s if asked_s is None else max(asked_s, self.first_s)
        return pause_s if waited_s + pause_s <= self.most_s else None


class Insistence:
    """Asks again what a cloud was too busy for.

    - `tell`: takes a sentence about each request that is made again.
    - `retries`: requests that were made again so far.
    """

    def __init__(
        self,
        tell: Callable[[str], None],
        back_off: BackOff = BackOff(),
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._tell = tell
        self._back_off = back_off
        self._sleep = sleep
        # Of several that were refused at once, not all should come again at once.
        self._random = random.Random()
        self.retries = 0

    def ask(self, what: str, act: Callable[[], T], done: Callable[[], T | None] | None = None) -> T:
        """Give what a request gives, as soon as it succeeds.

        - `what`: it does, in words.
        - `done`: looks whether an earlier try was carried out although it seemed to fail, and gives
          what came of it: what is made must not be made twice.
        """
        waited_s = 0.0
        for failures in count(1):
            try:
                if failures > 1 and done is not None and (found := done()) is not None:
                    return found
                return act()
            except Busy as error:
                pause_s = self._back_off.pause_s(failures, waited_s, error.retry_after_s)
                if error.is_silent and not self._back_off.waits_for_silent:
                    pause_s = None
                if pause_s is None:
                    times = f" {failures} times in {waited_s:.0f} s" if failures > 1 else ""
                    raise NotNow(
                        f"{what} failed{times}: {error.what}",
                        hint="try again when the cloud answers",
                    ) from error
                if error.retry_after_s is None:
                    pause_s *= self._random.uniform(0.75, 1.0)
                self.retries += 1
                self._tell(f"{what}: {error.what}; asked again in {pause_s:.1f} s")
                self._sleep(pause_s)
                waited_s += pause_s
        raise AssertionError("unreachable")
