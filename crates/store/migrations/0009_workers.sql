-- Processes that work tasks: they are shown while they wait for work, too. A row goes with its process.

CREATE TABLE workers (
    process INTEGER PRIMARY KEY REFERENCES processes (key) ON DELETE CASCADE,
    body    TEXT    NOT NULL                   -- what it works, as JSON
) STRICT;
