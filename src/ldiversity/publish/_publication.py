"""`Publication`: the holder's question, as one value."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Required, TypeAlias, TypedDict, Unpack

from ldiversity.base.checks import check_choice, check_keywords, column_names
from ldiversity.base.findings import Finding
from ldiversity.base.progress import reports_progress
from ldiversity.base.randomness import Key
from ldiversity.base.typed import join_names
from ldiversity.errors import ParameterError
from ldiversity.methods import GroupingMethod, Method, Models
from ldiversity.models import PrivacyModel
from ldiversity.publish._alike import alike_models
from ldiversity.publish._columns_said import ColumnDecisions, Columns
from ldiversity.publish._method import ChosenMethod, choose_methods, locate, shorten
from ldiversity.publish._together import check_epsilon_unkeyed, check_family, check_ids, check_memory, misplaced_by
from ldiversity.release import Format, Release, SetLayout
from ldiversity.tables import Source

if TYPE_CHECKING:
    from ldiversity.engines import Engine, Secrets
    from ldiversity.publish._check import Checked
    from ldiversity.publish._plan_result import ClassPlan, Plan
    from ldiversity.publish._prepare import Preparation

__all__ = ["Decisions", "Publication", "RunOptions"]

_OWNER: Final = "Publication"
_GivenMethod: TypeAlias = str | Method | ChosenMethod


class Decisions(ColumnDecisions, total=False):
    """All that a holder may decide, in every form that is accepted; `Publication` explains each."""

    method: Required[_GivenMethod | Mapping[str, _GivenMethod]]
    model: Models
    marginals: bool
    key: Key | str | os.PathLike[str] | None
    record_id: str | Sequence[str] | None
    stable_order: bool
    data_format: Format | None
    layout: SetLayout | None
    confirm: str | Sequence[str]


class RunSettings(TypedDict, total=False):
    """How one run of a publication goes; `Publication.publish` explains each."""

    overwrite: bool
    engine: Engine | str | None
    memory: str | int | None
    progress: Callable[[float, str], None] | None
    insecure_seed: int | None


class RunOptions(RunSettings, total=False):
    """What belongs to one run of a publication, with the key, which a publication may name itself."""

    key: Key | None


@dataclass(frozen=True, init=False)
class Publication(Columns):
    """What a holder wants to publish: which columns, how they are hidden, and in which form.

    Neither the table nor the folder of the release is part of it, so one reviewed file serves the table of every month.
    It can be compared, pickled, saved to a TOML file and loaded from it. It may name a key file, but never holds a key.

    Parameters
    ----------
    quasi
        Columns by which people might be recognized. Published as they are, or generalized by methods that do so.
    sensitive
        Columns to be hidden; a name, or `Sensitive` to declare a domain, bins or a policy for missing values. Without
        any, a method that generalizes publishes classes with a promise about records alone, such as k-anonymity.
    drop
        Columns that name people. Columns without any role are dropped as well; `Release.notes` lists them.
    plain
        Columns published as they are, because the holder knows that they tell nothing.
    types
        Types of columns of a text file, where the inferred one is not wanted, for example ``{"zip": "text"}``.
    read
        How to read what a file does not say: `ReadOptions`, or its fields by name, for example ``{"sheet": 2}``,
        ``{"encoding": "cp1252", "decimal": ",", "date_format": "dmy", "skip_rows": 3}``.
    hierarchies
        Of quasi-identifiers, for methods that group, by column: a `Hierarchy`, the path of its file, or how to make it
        from the values, as on the command line (``"prefix:3/2"``, ``"width:5/10/20"``, ``"auto"``). Columns with one
        are generalized to its nodes, others to intervals of numbers or lists of values.
    levels
        How coarsely a quasi-identifier is published, by column; methods that generalize go up from there:
        ``"width:5"``, ``"prefix:3"``, ``"year"`` (or decade, quarter, month), ``"jobs.csv:2"`` for level 2 of a
        hierarchy file, or a pair of a `Hierarchy` and a level. ``"bottom:18"`` and ``"top:90"`` make one label of
        all numbers below, and of all from there on; also ``"width:5,bottom:20,top:90"``. Labels follow from this rule
        alone. The command line and policies call it ``publish``, which is a verb here.
    grid
        Where intervals of numbers and times may end, for methods that generalize to intervals: all ends are rounded
        outward to a public step, so that no end is somebody's value. By default it is a round number, or a unit of the
        calendar, of about 1 % of the range in which most records lie. ``{"age": 5, "born": "year"}`` declares steps,
        ``{"age": "exact"}`` leaves the ends of a column as they are, and ``"exact"`` those of all columns.
    person
        The column that says whose row it is, when a person may have several. No class then holds two rows of one
        person. All sets of a person belong to one partition of the values, so that they are equal or disjoint, where
        the method knows partitions: within one release, and with a key in every release made with it. With an
        epsilon, every row is a draw of its own, and a person spends it once for each of their rows.
    method
        How: one method for all sensitive columns, or one for each by name; an object, or a text such as
        ``"semantic:l=3,d=2,distance=ordered"``. A method that groups records serves all columns together.
    model
        A promise about quasi-identifiers, for methods that do not generalize them: ``"k-anonymity:5"``. Levels of the
        columns are raised, from the declared ones on, until it holds for every record; no record is left out. With
        `person`, people are counted.
    marginals
        Publish how often each exact value of a generalized quasi-identifier occurs. Estimates become better, but
        readers see which values are rare.
    key, record_id
        Keyed draws: the same record with the same value gets the same set in every release made with this key, so
        that releases cannot be intersected. What a changed value tells depends on the method
        (``docs/guides/republishing.md``). `key` is the path of a key file; a `Key` itself goes to `publish`.
        `record_id` names the columns that identify records; `person` takes its place. Refused with an epsilon.
    stable_order
        With a key: the same table gives the same bytes again, for pipelines that compare checksums. The price: people
        stand in the same order in every release made with the key, so those who look alike can be told apart and
        linked between releases by their places.
    data_format
        ``"parquet"`` or ``"csv"``, for a release that is written to a folder. When None, the format follows the table:
        CSV for CSV and TSV files, Parquet for everything else, frames included.
    layout
        ``"sets"``, the default, or ``"exploded"`` for one row per member, as in the paper on semantic diversity. The
        method decides the layout of a grouped release.
    confirm
        Columns that are published although they name people, or give a sensitive value away. Nothing is published
        while such a column is not confirmed; the release says which ones were.

    Examples
    --------
    >>> import pyarrow as pa
    >>> patients = pa.table({"age": [41, 50, 68], "disease": ["flu", "cut", "flu"]})
    >>> publication = Publication(quasi="age", sensitive="disease", method="anatomy:l=2,overflow=suppress")
    >>> publication.check(patients).records
    3
    >>> publication.publish(patients).n_rows
    2
    """

    method: ChosenMethod | Mapping[str, ChosenMethod]
    model: tuple[PrivacyModel, ...]
    marginals: bool
    key: Path | None
    record_id: tuple[str, ...]
    stable_order: bool
    data_format: Format | None
    layout: SetLayout | None
    confirm: tuple[str, ...]

    def __init__(self, **said: Unpack[Decisions]) -> None:
        check_keywords(_OWNER, Decisions, said, ("method",))
        super().__init__(**{name: said[name] for name in ColumnDecisions.__annotations__ if name in said})  # type: ignore[literal-required]
        key, layout, record_id = said.get("key"), said.get("layout"), said.get("record_id")
        form = said.get("data_format")
        if isinstance(key, Key):
            raise ParameterError(
                _OWNER, "key", "must be the path of a key file: a publication holds no secret"
            ).with_hint("Hand a Key to publish(..., key=...).")
        self._set(
            method=choose_methods(said["method"], [one.name for one in self.sensitive]),
            model=alike_models(said.get("model")),
            marginals=bool(said.get("marginals")),
            key=None if key is None else Path(locate(Key.check_path(_OWNER, key))),
            record_id=tuple(column_names(_OWNER, "record_id", () if record_id is None else record_id)),
            stable_order=bool(said.get("stable_order")),
            data_format=None if form is None else check_choice(_OWNER, "data_format", form, ("parquet", "csv")),
            layout=None if layout is None else check_choice(_OWNER, "layout", layout, ("sets", "exploded")),
            confirm=tuple(column_names(_OWNER, "confirm", said.get("confirm", ()))),
        )
        check_family(self, self._choices)
        check_epsilon_unkeyed(self, keyed=self.key is not None)
        if self.key is not None:
            check_ids(self, keyed=True)

    @classmethod
    def of(cls, columns: Columns, method: ChosenMethod, *, confirm: str | Sequence[str] = ()) -> Publication:
        """A publication of these columns by a method, without decisions that only the other family takes."""
        said = {name: getattr(columns, name) for name in ColumnDecisions.__annotations__}
        alone = {} if method.groups else {"hierarchies": None}
        alone |= {} if method.rounds else {"grid": None}
        return cls(**{**said, **alone}, method=method, confirm=confirm)

    @property
    def grouping(self) -> GroupingMethod | None:
        """The method that groups the records; None when each value is hidden on its own."""
        chosen = self.method.method if isinstance(self.method, ChosenMethod) else None
        return chosen if isinstance(chosen, GroupingMethod) else None

    @property
    def methods(self) -> dict[str, Method]:
        """The method of each sensitive column; one and the same when records are grouped."""
        if isinstance(self.method, ChosenMethod):
            return {one.name: self.method.method for one in self.sensitive}
        return {name: chosen.method for name, chosen in self.method.items()}

    def check(self, table: Any) -> Checked:  # noqa: ANN401 - any frame or path
        """Check all that can be checked without drawing: roles, types, domains, files, and whether the promise holds.

        Parameters
        ----------
        table
            A path or any data frame.

        Raises
        ------
        LDiversityError
            As `publish` would.
        """
        from ldiversity.publish._check import check

        return check(self._prepared(table))

    def plan(self, table: Any) -> Plan | ClassPlan:  # noqa: ANN401 - any frame or path
        """Say what publishing a table would promise and cost; publishes nothing.

        A promise that cannot be kept is no error here: the plan says why, and which choice is nearest. For a method
        that groups records, the plan is a `ClassPlan` and says what is known before they are grouped.
        """
        from ldiversity.publish._plan import plan_publication

        return plan_publication(self._prepared(table))

    def screen(self, table: Any) -> tuple[Finding, ...]:  # noqa: ANN401 - any frame or path
        """Say what publishing a table would give away; where a finding is `blocking`, `publish` refuses the table."""
        from ldiversity.publish._screening import screen

        return screen(self._prepared(table)).findings

    def rehearse(self, table: Any, *, insecure_seed: int | None = None) -> Release:  # noqa: ANN401 - any frame or path
        """Publish a table in memory to measure what comes out; it is not screened, so never hand the release out.

        Parameters
        ----------
        table, insecure_seed
            As for `publish`.
        """
        from ldiversity.publish._publish import rehearse

        return rehearse(self._prepared(table), None, overwrite=False, secrets=self._secrets(None, insecure_seed))

    @reports_progress
    def publish(  # noqa: PLR0913 - how a run goes, one thing each
        self,
        table: Any,  # noqa: ANN401 - any frame or path
        output: str | os.PathLike[str] | None = None,
        *,
        overwrite: bool = False,
        key: Key | None = None,
        engine: Engine | str | None = None,
        memory: str | int | None = None,
        progress: Callable[[float, str], None] | None = None,  # noqa: ARG002 - `reports_progress` uses it
        insecure_seed: int | None = None,
    ) -> Release:
        """Publish a table, after checking the claims on what was produced.

        Parameters
        ----------
        table
            A data frame (pandas, polars, pyarrow, Spark, or anything that speaks Arrow) or the path of a file.
        output
            A folder to write. A file is then streamed, and memory does not grow with the table, except for methods that
            group, which need all rows at once. Without it the release stays in memory.
        overwrite
            Replace a release that is already at `output`.
        key
            The key, when the publication has a `record_id` or a `person` and does not name a key file.
        engine
            Where to compute: an engine, ``"local"`` (this machine) or ``"spark"``. When None, where the table is: Spark
            for its frames, and this machine for all others.
        memory
            How much memory this process may take, such as ``"500MB"`` or ``"2GiB"``, for a table in a file that is
            published to a folder. What does not fit waits in encrypted temporary files. No limit when None.
        progress
            Called from time to time with the share of the work that is done and a word for the step. If it raises,
            the work stops, and nothing is left behind.
        insecure_seed
            Draw from a seed that can be repeated. For tests: anyone who learns the seed learns the true values.
        """
        from ldiversity.base.ending import orderly_end
        from ldiversity.base.held import held_to, used_again
        from ldiversity.engines import choose_engine
        from ldiversity.publish._publish import publish

        secrets = self._secrets(key, insecure_seed)
        target = None if output is None else Path(output)
        chosen = choose_engine(table, engine, memory)
        check_memory(self, chosen, in_memory=target is None)
        try:
            # Rows on their way to a file take and free the same memory over and over.
            streamed = chosen.holds and target is not None and self.grouping is None
            with orderly_end(chosen.close), used_again() if streamed else held_to(chosen.memory):
                prepared = self._prepared(table, chosen)
                with prepared.source.unchanged():
                    made = publish(prepared, target, overwrite=overwrite, secrets=secrets)
                if target is None:  # a folder gets its name after the same check
                    chosen.check_unchanged(prepared.source)
                return made
        finally:
            if chosen is not engine:
                chosen.close()

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Publication:
        """Read a publication from a TOML file; relative paths in it start at its folder.

        A table and a folder that the file names are left to `Policy.read`.
        """
        from ldiversity.publish._policy import Policy

        return Policy.read(path).publication

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the publication to a TOML file, from which `load` makes an equal one.

        Raises
        ------
        ParameterError
            When it holds an object that no text stands for, such as a hierarchy that is in no file.
        """
        from ldiversity.publish._document import save_publication

        save_publication(self, Path(path))

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """The JSON Schema of a publication's file."""
        from ldiversity.publish._document import json_schema

        return json_schema()

    def command(self, table: str = "TABLE", output: str = "release") -> list[str] | None:
        """The command line that publishes, as words; None when an option cannot be written there."""
        choices = self._choices
        method = choices[0].words if all(one == choices[0] for one in choices) else None
        if method is None:
            return None
        words = ["ldiversity", "anonymize", table, *self.words, *method]
        words += [word for model in self.model for word in ("--model", model.text)]
        words += ["--marginals"] if self.marginals else []
        words += [] if self.key is None else ["--key", shorten(self.key)]
        words += [word for name in self.record_id for word in ("--record-id", name)]
        words += ["--stable-order"] if self.stable_order else []
        words += [] if self.data_format is None else ["--format", self.data_format]
        words += [] if self.layout is None else ["--layout", self.layout]
        words += ["--confirm", join_names(self.confirm)] if self.confirm else []
        return [*words, "-o", output]

    @property
    def _choices(self) -> list[ChosenMethod]:
        return [self.method] if isinstance(self.method, ChosenMethod) else list(self.method.values())

    def _prepared(self, table: Any, engine: Engine | None = None) -> Preparation:  # noqa: ANN401 - any frame or path
        from ldiversity.engines import choose_engine
        from ldiversity.publish._prepare import prepare

        if self.key is not None:
            Key.load(shorten(self.key))
        chosen = choose_engine(table, engine)
        source = table if isinstance(table, Source) else chosen.open(table, types=self.types, read=self.read)
        with source.unchanged():
            return prepare(self, source, chosen)

    def _secrets(self, key: Key | None, insecure_seed: int | None) -> Secrets:
        from ldiversity.engines import Secrets

        secret = self._secret(key)
        if secret is not None and insecure_seed is not None:
            raise ParameterError(_OWNER, "insecure_seed", "must be left out when there is a key")
        file = None if self.key is None else Path(shorten(self.key)).absolute()
        return Secrets(secret, key_file=file, insecure_seed=insecure_seed)

    def _secret(self, key: Key | None) -> Key | None:
        if key is not None and not isinstance(key, Key):
            raise ParameterError(_OWNER, "key", "must be a Key", got=type(key).__name__).with_hint(
                "Read it from its file with ld.Key.load."
            )
        if key is not None and self.grouping is not None:
            raise misplaced_by(self, "key")
        if key is not None and self.key is not None:
            raise ParameterError(_OWNER, "key", "must be left out, because the publication names a key file")
        check_ids(self, keyed=key is not None or self.key is not None)
        return key if self.key is None else Key.load(shorten(self.key))
