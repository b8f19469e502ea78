"""The tables of demonstrations, in SQLite and in Postgres."""

from __future__ import annotations

from typing import Final

from snellen.memory.database_library import Database, Migrations

DATABASE: Final = "demonstrations.sqlite"

migrations = Migrations("demonstrations")


@migrations(name="1_demonstrations")
def _demonstrations(db: Database) -> None:
    # AUTOINCREMENT: a number is never given out twice, so that in the index it means one row for ever.
    db.execute(
        """
        CREATE TABLE demonstrations (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            kind TEXT NOT NULL,
            correct INTEGER NOT NULL,
            instruction TEXT NOT NULL,
            plan TEXT NOT NULL,
            program TEXT NOT NULL,
            critique TEXT NOT NULL,
            family TEXT NOT NULL,
            created TEXT NOT NULL,
            source TEXT NOT NULL
        )
        """
    )


@migrations(name="2_loaded_seeds")
def _loaded_seeds(db: Database) -> None:
    db.table("loaded_seeds").create({"sha256": str, "loaded": str}, pk="sha256")


@migrations(name="3_failures")
def _failures(db: Database) -> None:
    db.execute("ALTER TABLE demonstrations ADD COLUMN failure TEXT NOT NULL DEFAULT ''")


@migrations(name="4_search")
def _search(db: Database) -> None:
    # A plan's programs are found by its instruction; an index of vectors is told when rows were deleted, by whomever.
    db.execute("CREATE INDEX demonstrations_by_instruction ON demonstrations (instruction)")
    db.execute("CREATE TABLE demonstration_state (identity TEXT NOT NULL, deletions INTEGER NOT NULL)")
    db.execute("INSERT INTO demonstration_state VALUES (lower(hex(randomblob(8))), 0)")
    db.execute(
        "CREATE TRIGGER demonstrations_deleted AFTER DELETE ON demonstrations "
        "BEGIN UPDATE demonstration_state SET deletions = deletions + 1; END"
    )


STEPS: Final = (
    """
    CREATE TABLE demonstrations (
        number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        correct BIGINT NOT NULL,
        instruction TEXT NOT NULL,
        plan TEXT NOT NULL,
        program TEXT NOT NULL,
        critique TEXT NOT NULL,
        family TEXT NOT NULL,
        created TEXT NOT NULL,
        source TEXT NOT NULL,
        failure TEXT NOT NULL DEFAULT ''
    );
    CREATE INDEX demonstrations_by_instruction ON demonstrations USING hash (instruction);
    CREATE TABLE loaded_seeds (sha256 TEXT PRIMARY KEY, loaded TEXT);
    CREATE TABLE demonstration_state (identity TEXT NOT NULL, deletions BIGINT NOT NULL);
    INSERT INTO demonstration_state VALUES (md5(random()::text), 0);
    CREATE FUNCTION demonstrations_deleted() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN UPDATE demonstration_state SET deletions = deletions + 1; RETURN NULL; END $$;
    CREATE TRIGGER demonstrations_deleted AFTER DELETE ON demonstrations
    FOR EACH STATEMENT EXECUTE FUNCTION demonstrations_deleted()
    """,
)
"""The same tables in Postgres; instructions may be longer than a tree's entries there."""
