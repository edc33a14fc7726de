"""Killed at every checkpoint, then run again: readers see the old or the new release, and the end is the same."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.flow import recover_all
from pipelines.publish.reconcile import reconcile
from pipelines.publish.rollback import rollback
from tests.flow.conftest import Kb


class Killed(BaseException):
    """Nothing in the product catches it, as nothing catches SIGKILL."""


class Bomb:
    """A checkpoint that raises at its n-th call (0: never) and counts."""

    def __init__(self, at: int) -> None:
        self.at, self.calls, self.place = at, 0, ""

    def __call__(self, place: str) -> None:
        self.calls += 1
        if self.calls == self.at:
            self.place = place
            raise Killed(place)


def _publish(kb: Kb) -> None:
    kb.release()


def _rollback(kb: Kb) -> None:
    rollback(kb.app, 1, "the second one was wrong")


def _crash_everywhere(kb: Kb, tmp_path: Path, act: Callable[[Kb], None]) -> list[str]:
    old = kb.texts()
    bomb = Bomb(0)
    whole = kb.copied(tmp_path / "whole", bomb)
    act(whole)
    new = whole.texts()
    whole.app.database.engine.dispose()
    assert new != old
    places = []
    for at in range(1, bomb.calls + 1):
        trial = kb.copied(tmp_path / f"trial{at}", armed := Bomb(at))
        with pytest.raises(Killed):
            act(trial)
        assert trial.texts() in (old, new), armed.place
        recover_all(trial.app)
        act(trial)
        assert trial.texts() == new, armed.place
        assert reconcile(trial.app, repair=False)["faults"] == [], armed.place
        trial.app.database.engine.dispose()
        places.append(armed.place)
    return places


def test_a_sync_and_publish_killed_anywhere_ends_the_same_when_run_again(kb: Kb, tmp_path: Path) -> None:
    kb.release()
    kb.write("leave", "Annual leave is twenty five days for everybody.", "Holidays never expire any more.")
    (kb.docs / "canteen.md").unlink()
    places = _crash_everywhere(kb, tmp_path, _publish)
    wanted = {"scanned", "staged", "build.in_review", "publish.planned", "publish.switched", "hygiene.closed"}
    assert wanted <= set(places)


def test_a_rollback_killed_anywhere_ends_the_same_when_run_again(kb: Kb, tmp_path: Path) -> None:
    kb.release()
    kb.write("leave", "Annual leave is twenty five days for everybody.", "Holidays never expire any more.")
    kb.release()
    assert _crash_everywhere(kb, tmp_path, _rollback) == ["rollback.moved"]
