"""The parts of a figure: its series, units and headline, and the commands that measure it."""

import dataclasses


def powers(first, last):
    """Powers of two."""
    size = first
    while size <= last:
        yield size
        size *= 2


@dataclasses.dataclass(frozen=True)
class Unit:
    """The conversion of a measured number, mostly nanoseconds of one operation."""

    name: str
    better: str  # "less" or "more"
    of: callable  # of the number and the x


MICROSECONDS = Unit("us", "less", lambda ns, x: ns / 1e3)
MEGABYTES = Unit("MB/s", "more", lambda ns, x: x * 1e3 / ns)
SECONDS = Unit("s", "less", lambda seconds, x: seconds)
MILLISECONDS = Unit("ms", "less", lambda ns, x: ns / 1e6)
MILLIONS = Unit("million/s", "more", lambda ns, x: 1e3 / ns)
MESSAGES_TO_EACH = Unit("us a message to each", "less", lambda ns, ranks: ns / 1e3)
PRINTED_MILLIONS = Unit("million/s", "more", lambda value, x: value)
ALL_MILLIONS = Unit("million/s of all ranks", "more", lambda ns, ranks: ranks * 1e3 / ns)
PAIRS_MILLIONS = Unit("million/s of all ranks", "more", lambda ns, ranks: ranks * (ranks - 1) * 1e3 / ns)
MEBIBYTES = Unit("MiB of rank 0", "less", lambda count, x: count / 2**20)


@dataclasses.dataclass(frozen=True)
class Series:
    label: str
    system: str  # of systems.SYSTEMS
    row: str     # the operation, with a size behind a colon if it is not x; {x} stands for the category
    environment: dict = dataclasses.field(default_factory=dict)  # likewise
    kind: str = ""  # libgex is compared with peers of the kind


@dataclasses.dataclass(frozen=True)
class Headline:
    """The number that the paper is known for: how many times as good `one` is as `other`, where each is the
    best of its labels."""

    text: str
    paper: float  # None: the paper has no number
    one: tuple
    other: tuple
    at: object = "best"  # an x, "best" of all, their "mean", or "bests": each at its own best x
    why: str = ""        # why ours differs


@dataclasses.dataclass(frozen=True)
class Job:
    """One command: its arguments, and which row it prints for which x."""

    ranks: int
    arguments: list
    environment: dict
    rows: dict


@dataclasses.dataclass(frozen=True)
class Figure:
    name: str
    title: str
    paper: str
    network: str
    xs: tuple
    series: tuple
    unit: Unit
    x: str = "bytes"  # what the x axis is; "ranks": each has a job of its own
    headline: Headline = None
    note: str = ""
    categories: bool = False  # xs are names
    ranks: int = 2
    hosts: bool = False  # a rank on each of two hosts (hosts.py)
    keep: tuple = ()     # x's that a thinned curve has too
    limit: object = None  # of a bandwidth: a number, a series, or HIGHEST (shares.py)
    longer: int = 1      # samples last so many times as long as the scale's
    on_cores: bool = False  # of the x's, ranks, those for which there are cores
    large: bool = False  # FT of the scale's larger class

    def xs_on(self, cores):
        """The x's on a machine of so many cores: the first at least."""
        return tuple(x for x in self.xs if not self.on_cores or x <= cores) or self.xs[:1]

    def jobs(self, series, xs, scale):
        """The commands of a round."""
        if self.x == "ranks":
            return [self._job(series, [x], x, scale) for x in xs]
        if any("{x}" in value for value in series.environment.values()):
            return [self._job(series, [x], self.ranks, scale) for x in xs]
        return [self._job(series, xs, self.ranks, scale)]

    def _job(self, series, xs, ranks, scale):
        environment = {name: value.format(x=xs[0]) for name, value in series.environment.items()}
        arguments, rows = ARGUMENTS.get(series.system, peer_arguments)(self, series.row, xs, scale)
        return Job(ranks, arguments, environment, rows)


@dataclasses.dataclass(frozen=True)
class Shares:
    """A figure that follows from others (shares.py)."""

    name: str
    title: str
    paper: str
    figures: tuple
    at: tuple      # x's of those
    series: tuple  # (label, part of the labels whose best is meant, is it libgex)
    note: str


# A limit that is the highest bandwidth of any series.
HIGHEST = "highest"

# Rows of a program that starts and ends: its command's own time, and what it prints.
WHOLE = "whole"
MEMORY = "memory"


def peer_arguments(figure, row, xs, scale):
    """The arguments of the programs in bench/peers."""
    if row in (WHOLE, MEMORY):
        return [], {x: row for x in xs}
    options = ["--samples", str(scale.samples), "--ms", f"{scale.milliseconds * figure.longer:g}"]
    if figure.x == "bytes":
        return ([*options, f"{row}:{','.join(str(x) for x in xs)}"], {x: f"{row}.{x}" for x in xs})
    name, _, size = row.partition(":")
    named = {x: (name.format(x=x), size or "8") for x in xs}
    return ([*options, *map(":".join, named.values())], {x: ".".join(words) for x, words in named.items()})


def gexperf_arguments(figure, row, xs, scale):
    named = {x: row.format(x=x) for x in xs}
    rows = (name.removesuffix(".limit") for name in named.values())
    return ["--json", "--rounds", str(scale.samples), "--runs", "1", "--tries", "1", *rows], named


def ft_class(figure, scale):
    return scale.large_ft_class if figure.large else scale.ft_class


def ft_arguments(figure, row, xs, scale):
    """The arguments of apps/ft: one variant, or all where x is the variant."""
    variant = row.split(".")[0]
    words = [] if "{x}" in variant else ["--variant", variant]
    return (["--class", ft_class(figure, scale), "--json", *words], {x: row.format(x=x) for x in xs})


def fftw_arguments(figure, row, xs, scale):
    return ["--class", ft_class(figure, scale)], {x: row.format(x=x) for x in xs}


ARGUMENTS = {"gexperf": gexperf_arguments, "gexperf_cuda": gexperf_arguments, "ft": ft_arguments,
             "ft_mpi": ft_arguments, "fftw": fftw_arguments}


def without_peers(figure, series):
    """The figure with these series alone."""
    return dataclasses.replace(figure, series=series)
