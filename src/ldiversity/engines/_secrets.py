"""What workers draw from."""

from __future__ import annotations

from pathlib import Path

from ldiversity.base.randomness import FreshWords, Key, Secret

__all__ = ["Secrets"]


class Secrets(Secret):
    """What a worker draws from: the holder's key, if there is one, and the key of the job.

    The key of the job is made for the run and never stored with a release. All workers of a run need the same one, so
    that work that is done again gives the same draws.

    It cannot be pickled. An engine with workers elsewhere makes it there: they read the holder's key from `key_file`
    themselves. For tests, `insecure_seed` makes a key and words that can be repeated.
    """

    __slots__ = ("_insecure", "job", "key", "key_file")

    def __init__(
        self,
        key: Key | None = None,
        *,
        job: Key | None = None,
        key_file: Path | None = None,
        insecure_seed: int | None = None,
    ) -> None:
        self.key, self.key_file = key, key_file
        self._insecure = None if insecure_seed is None else FreshWords.from_insecure_seed(insecure_seed)
        made = Key.new() if insecure_seed is None else Key.from_insecure_seed(insecure_seed)
        self.job = made if job is None else job

    @property
    def of_draws(self) -> Key:
        """The key under which sets are drawn: the holder's, or else that of the job."""
        return self.job if self.key is None else self.key

    def words(self) -> FreshWords:
        """Secure words for the caller alone, for orders and grouping; in tests, the words that can be repeated."""
        return FreshWords() if self._insecure is None else self._insecure
