"""Does an export fit the table that it is imported into: what Hive's IMPORT looks at, before anything is copied."""

from collections.abc import Sequence

from twinhive.core.model.errors import ActNow
from twinhive.core.model.objects import Table, TableKind
from twinhive.core.model.thrift_objects import partition_key_types, storage_of
from twinhive.statements.table_exports.export_metadata import refuse_kind

_Columns = Sequence[tuple[str, str]]


def refuse_unfit(exported: Table, there: Table, *, external: bool, location: str | None) -> None:
    """Raise ActNow with all that keeps the files of an export from being files of a table that is there."""
    refuse_kind(there, "imported into")
    ours, theirs = storage_of(exported), storage_of(there)
    problems = [
        *_different("columns", exported.columns, there.columns),
        *_different("partition keys", partition_key_types(exported), partition_key_types(there)),
        *(
            f"its {what} is {have or '(none)'}, that of the export {want or '(none)'}"
            for what, want, have in (
                ("input format", ours.input_format, theirs.input_format),
                ("output format", ours.output_format, theirs.output_format),
                ("serde", ours.serde, theirs.serde),
                ("bucketing", ", ".join(ours.bucket_columns), ", ".join(theirs.bucket_columns)),
            )
            if want != have
        ),
    ]
    if external and there.kind is not TableKind.EXTERNAL:
        problems.append("it is a managed table, and EXTERNAL is said")
    if location and (there.location or "").rstrip("/") != location:
        problems.append(f"it lies at {there.location}, and LOCATION says {location}")
    if problems:
        raise ActNow(
            f"the export does not fit table {there.name}",
            found="; ".join(problems),
            expected="a table with the same columns, keys and format, or none of this name",
            next_step="import it under another name, or correct the statement",
        )


def _different(what: str, exported: _Columns, there: _Columns) -> list[str]:
    def shown(columns: _Columns) -> str:
        return ", ".join(f"{name} {kind}" for name, kind in columns) or "none"

    def plain(columns: _Columns) -> list[tuple[str, str]]:
        return [(name.lower(), kind.lower()) for name, kind in columns]

    if plain(exported) == plain(there):
        return []
    return [f"its {what} are {shown(there)}; those of the export are {shown(exported)}"]
