"""How far the copy of a replica that is being loaded is, how quick it is, and when it will be done."""

from dataclasses import dataclass

from twinhive.core.model.human_readable import readable, spoken_time


@dataclass(frozen=True)
class LoadProgress:
    """The copy of one dump, counted by its batches: what one holds counts when all of it is staged, or has been tried.

    dump      the dump's key
    at        when it was looked at, in seconds since 1970
    began     when the copying began, likewise; None before anything was copied
    batches   tables and partitions by batches; `listed` of them have their lists of files, `done` are staged
    files, bytes            what the lists hold that are there: all, when every batch is listed
    files_done, bytes_done  what of it is staged
    """

    dump: str
    at: float
    began: float | None
    batches: int
    listed: int
    done: int
    files: int
    files_done: int
    bytes: int
    bytes_done: int

    @property
    def is_listed(self) -> bool:
        """True when it is known how much there is."""
        return self.listed >= self.batches

    @property
    def part(self) -> float:
        """Return which part is done, between 0 and 1: of the bytes, where there are none of the batches."""
        if not self.is_listed:
            return 0.0
        return self.bytes_done / self.bytes if self.bytes else self.done / self.batches if self.batches else 1.0

    @property
    def rate(self) -> float | None:
        """Return the bytes a second since the copying began, None before anything was copied."""
        if self.began is None or self.at <= self.began or not self.bytes_done:
            return None
        return self.bytes_done / (self.at - self.began)

    @property
    def seconds_left(self) -> float | None:
        """Return how long the rest takes at this rate, None as long as nobody can say."""
        if not self.is_listed or not self.rate:
            return None
        return (self.bytes - self.bytes_done) / self.rate

    @property
    def text(self) -> str:
        """Say it in one line."""
        more = "" if self.is_listed else f", {self.listed:,} are listed"
        said = [
            f"{self.done:,} of {self.batches:,} batches{more}",
            f"{self.files_done:,} of {self.files:,} files{'' if self.is_listed else ' so far'}",
            f"{readable(self.bytes_done)} of {readable(self.bytes)}{'' if self.is_listed else ' so far'}",
        ]
        said += [f"{self.part:.0%}"] if self.is_listed else []
        said += [f"{readable(self.rate)}/s"] if self.rate else []
        said += [f"about {spoken_time(self.seconds_left)} left"] if self.seconds_left else []
        return "; ".join(said)
