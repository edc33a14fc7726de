"""What readers of sources over a network share: patience, tokens, and bodies with a limit."""

import hashlib
import re
import tempfile
import time
from collections.abc import Callable, Iterable
from typing import IO, TYPE_CHECKING, TypeVar

from pydantic import SecretStr

from pipelines.errors import Code, Rejected, Transient

if TYPE_CHECKING:
    from tenacity import RetryCallState

T = TypeVar("T")
Secrets = Callable[[str], SecretStr]
"""The value of an environment variable by its name."""

ATTEMPTS = 4
IN_A_ROW = 5
"""So many items that could not be read, one after the other, are no fault of the items."""
LONGEST_PAUSE = 60.0
"""Seconds; a server that asks for more with Retry-After is taken up again by the next sync."""
_IN_MEMORY = 4 << 20


class Busy(Transient):
    """The source does not answer now; `after` seconds is what it asked for, None where it said nothing."""

    def __init__(self, reason: str, after: float | None = None) -> None:
        super().__init__(Code.SCAN_SOURCE_DOWN, reason)
        self.after = after

    def __reduce__(self) -> tuple[type["Busy"], tuple[str, float | None]]:  # type: ignore[override]
        return (type(self), (self.reason, self.after))


class Patience:
    """Calls again, with growing pauses, what raised Busy."""

    def __init__(self, sleep: Callable[[float], None] = time.sleep) -> None:
        self._sleep = sleep
        self._failed = 0

    def listing(self, call: Callable[[], T]) -> T:
        """Raises Busy when the source stays away."""
        from tenacity import Retrying, retry_if_exception_type, stop_after_attempt

        again = Retrying(
            stop=stop_after_attempt(ATTEMPTS),
            wait=_pause,
            retry=retry_if_exception_type(Busy),
            sleep=self._sleep,
            reraise=True,
        )
        return again(call)

    def item(self, call: Callable[[], T]) -> T:
        """As `listing`, but one item's failure is that item's: Rejected(SCAN_UNREADABLE), until too many fail."""
        try:
            found = self.listing(call)
        except Busy as error:
            self._failed += 1
            if self._failed >= IN_A_ROW:
                raise Busy(f"{IN_A_ROW} documents in a row could not be read: {error.reason}") from error
            raise Rejected(Code.SCAN_UNREADABLE, error.reason) from error
        self._failed = 0
        return found


def _pause(state: "RetryCallState") -> float:
    from tenacity import wait_exponential_jitter

    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, Busy) and error.after is not None:
        return min(error.after, LONGEST_PAUSE)
    return wait_exponential_jitter(multiplier=0.5, max=LONGEST_PAUSE)(state)


def token_of(*facts: object) -> str:
    """A change token of any facts: 32 hex digits, so that no value of a row can be read in the registry."""
    state = hashlib.blake2b(digest_size=16)
    for fact in facts:
        data = str(fact).encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "big") + data)
    return state.hexdigest()


def spooled(blocks: Iterable[bytes], megabytes: int) -> IO[bytes]:
    """The whole body, at its start; above 4 MiB on disk. Raises Rejected(SCAN_TOO_LARGE) as soon as it is."""
    body = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY, prefix="sluice-")  # noqa: SIM115 - the caller closes it
    try:
        size = 0
        for block in blocks:
            size += len(block)
            if size > megabytes << 20:
                raise Rejected(Code.SCAN_TOO_LARGE, f"more than {megabytes} MB")
            body.write(block)
        body.seek(0)
    except BaseException:
        body.close()
        raise
    return body


def named(identity: str) -> str:
    """An id as a uri: control characters and lone surrogates, which names must not have, become %XX."""
    return re.sub("[\x00-\x1f%\x7f\ud800-\udfff]", lambda found: f"%{ord(found[0]):02X}", identity)
