"""Measuring: processor time, wall time and peak memory of a piece of work, and ratios with their limits."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Result:
    """One figure, and the limit it was promised to keep.

    It is printed as soon as it is known, because some benchmarks take an hour: what one found until it was
    cut off has been shown.
    """

    name: str
    measured: float
    limit: float
    unit: str
    detail: str = ""
    at_least: bool = False

    def __post_init__(self) -> None:
        sign = ">=" if self.at_least else "<="
        verdict = "kept" if self.kept else "BROKEN"
        figure = f"{self.measured:10.3g} {sign} {self.limit:<6g} {self.unit:<8}"
        print(f"{self.name:<58} {figure} {verdict}  {self.detail}", flush=True)

    @property
    def kept(self) -> bool:
        """Whether the promise is kept."""
        return bool(self.measured >= self.limit if self.at_least else self.measured <= self.limit)

    def to_dict(self) -> dict[str, object]:
        return {**asdict(self), "kept": self.kept}


@dataclass(frozen=True)
class Cost:
    """Seconds of processor and wall time."""

    cpu: float
    wall: float


def cost_of(work: Callable[[], object], *, repeat: int = 3) -> Cost:
    """The least cost of several runs: noise of the machine only ever adds."""
    costs = []
    for _ in range(repeat):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        costs.append(Cost(time.process_time() - cpu, time.perf_counter() - wall))
    return Cost(min(cost.cpu for cost in costs), min(cost.wall for cost in costs))


def peak_memory_of(code: str, *arguments: str) -> int:
    """Peak resident bytes of a new Python process that runs `code` (Linux).

    Read from the kernel's own high-water mark: `getrusage` would count what the parent held before the process began.
    """
    program = f"{code}\nprint([line for line in open('/proc/self/status') if line.startswith('VmHWM')][0].split()[1])"
    done = subprocess.run([sys.executable, "-c", program, *arguments], check=True, capture_output=True, text=True)
    return int(done.stdout.split()[-1]) * 1024


def cpu_of_command(*command: str, repeat: int = 5) -> float:
    """The least processor seconds of a whole command."""
    code = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(used.ru_utime + used.ru_stime)\n"
    )
    seconds = [
        float(subprocess.run([sys.executable, "-c", code, *command], check=True, capture_output=True, text=True).stdout)
        for _ in range(repeat)
    ]
    return min(seconds)


def dump(results: list[Result], path: str) -> None:
    """Write the figures as JSON."""
    with open(path, "w", encoding="utf-8") as stream:  # noqa: PTH123 - a plain script
        json.dump([result.to_dict() for result in results], stream, indent=2)
