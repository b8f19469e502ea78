"""Tables as parquet: plain ones beside a folder of pictures, or a folder that ``datasets.load_dataset`` opens.

Rows are written as they come, some hundred at a time: what is exported need not fit into memory.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from snellen.errors import SnellenError
from snellen.exports.schema import ExportSource, ExportTable, Kind, Row, line

if TYPE_CHECKING:
    from collections.abc import Mapping

PICTURES: Final = "pictures"
"""The folder of pictures beside plain tables."""
_ROWS: Final = 1_000
"""Rows that are written at once."""
_PICTURED: Final = 100
"""The same, where they hold pictures: what readers of one row read at once."""
_MARKS: Final = re.compile(r"([\\`*_\[\]!#|~])")
_SPLIT: Final = "test"
"""All of it is for measuring; nobody should train on it unawares."""

Progress = Callable[[str], None]


def write_parquet(source: ExportSource, folder: Path, *, pictures: bool, progress: Progress) -> list[str]:
    """Write each table as a file, and each picture once as ``pictures/ID.png``, which the tables name.

    Returns:
        The written files.

    Raises:
        SnellenError: A package is missing, a picture is missing, or the folder cannot be written to.
    """
    arrow = _arrow()
    kinds = _plain_types(arrow)
    stored: set[str] = set()

    def cell(kind: Kind, value: Any) -> Any:  # noqa: ANN401 - whatever a row holds
        if kind != "picture" or value is None:
            return value
        name = f"{PICTURES}/{Path(value).stem}.png"
        if name not in stored:
            stored.add(name)
            (folder / PICTURES).mkdir(exist_ok=True)
            (folder / name).write_bytes(source.picture(value))
        return name

    for table in source.tables:
        columns = _columns(table, pictures=pictures)
        schema = arrow.schema([(name, kinds[kind]) for name, kind in columns.items()])
        _write(folder / f"{table.name}.parquet", schema, _cells(table, columns, cell), partial(_told, progress, table))
    return [*(f"{table.name}.parquet" for table in source.tables), *([f"{PICTURES}/"] if stored else [])]


def write_datasets(source: ExportSource, folder: Path, *, pictures: bool, progress: Progress) -> list[str]:
    """Write a folder that ``datasets.load_dataset`` opens: a configuration for each table, pictures inside.

    Returns:
        The written files.

    Raises:
        SnellenError: A package is missing, a picture is missing, or the folder cannot be written to.
    """
    features = _feature_types()

    def cell(kind: Kind, value: Any) -> Any:  # noqa: ANN401 - whatever a row holds
        if kind != "picture" or value is None:
            return value
        return {"bytes": source.picture(value), "path": f"{Path(value).stem}.png"}

    written = []
    for table in source.tables:
        columns = _columns(table, pictures=pictures)
        schema = features(columns).arrow_schema
        name = f"{table.name}/{_SPLIT}-00000-of-00001.parquet"
        (folder / table.name).mkdir()
        _write(folder / name, schema, _cells(table, columns, cell), partial(_told, progress, table))
        written.append(name)
    (folder / "README.md").write_text(_card(source), "utf-8")
    return ["README.md", *written]


def _columns(table: ExportTable, *, pictures: bool) -> Mapping[str, Kind]:
    return {name: kind for name, kind in table.columns.items() if pictures or kind != "picture"}


def _cells(table: ExportTable, columns: Mapping[str, Kind], cell: Callable[[Kind, Any], Any]) -> Iterator[Row]:
    for row in table.rows():
        yield {name: cell(kind, row[name]) for name, kind in columns.items()}


def _write(place: Path, schema: Any, rows: Iterable[Row], progress: Callable[[int], None]) -> None:  # noqa: ANN401 - an arrow schema
    import pyarrow as pa
    from pyarrow import parquet

    pictured = any(pa.types.is_struct(field.type) for field in schema)
    waiting, done = iter(rows), 0
    with parquet.ParquetWriter(place, schema) as writer:
        while part := list(islice(waiting, _PICTURED if pictured else _ROWS)):
            writer.write_table(pa.Table.from_pylist(part, schema=schema))
            done += len(part)
            progress(done)


def _told(progress: Progress, table: ExportTable, done: int) -> None:
    progress(f"{table.name}: {done:,} rows")


def _arrow() -> Any:  # noqa: ANN401 - the module
    try:
        import pyarrow as pa
    except ImportError as error:
        msg = "Parquet needs the package pyarrow: `pip install 'snellen[tables]'`."
        raise SnellenError(msg) from error
    return pa


def _plain_types(arrow: Any) -> dict[Kind, Any]:  # noqa: ANN401 - the module
    number = arrow.float64()
    return {
        "text": arrow.string(), "whole": arrow.int64(), "number": number, "flag": arrow.bool_(),
        "texts": arrow.list_(arrow.string()), "numbers": arrow.list_(number),
        "number lists": arrow.list_(arrow.list_(number)), "picture": arrow.string(),
    }  # fmt: skip


def _feature_types() -> Callable[[Mapping[str, Kind]], Any]:
    """Return what makes the features of a table."""
    try:
        from datasets import Features, Image, List, Value
    except ImportError as error:
        msg = "Folders for Hugging Face datasets need the package datasets: `pip install 'snellen[exports]'`."
        raise SnellenError(msg) from error
    number = Value("float64")
    kinds: dict[Kind, Any] = {
        "text": Value("string"), "whole": Value("int64"), "number": number, "flag": Value("bool"),
        "texts": List(Value("string")), "numbers": List(number), "number lists": List(List(number)),
        "picture": Image(),
    }  # fmt: skip
    return lambda columns: Features({name: kinds[kind] for name, kind in columns.items()})


def _unmarked(text: str) -> str:
    """Return a text, which may come from users and models, so that no mark-up in it is carried out."""
    return _MARKS.sub(r"\\\1", html.escape(line(text), quote=False))


def _card(source: ExportSource) -> str:
    """Return the card of a dataset: its configurations for machines, and what they hold for people."""
    from huggingface_hub import DatasetCardData

    configs = [
        {
            "config_name": table.name,
            "data_files": [{"split": _SPLIT, "path": f"{table.name}/{_SPLIT}-*.parquet"}],
            **({"default": True} if table is source.tables[0] else {}),
        }
        for table in source.tables
    ]
    data = DatasetCardData(pretty_name=line(source.title), tags=["vision-language", "snellen"], configs=configs)
    paragraphs = [f"# {_unmarked(source.title)}", _unmarked(source.about), *map(_unmarked, source.notes)]
    paragraphs.append("\n".join(f"- `{table.name}`: {table.about}." for table in source.tables))
    paragraphs.append(f'```python\nload_dataset("FOLDER", "{source.tables[0].name}", split="{_SPLIT}")\n```')
    return f"---\n{data.to_yaml()}\n---\n\n" + "\n\n".join(paragraphs) + "\n"
