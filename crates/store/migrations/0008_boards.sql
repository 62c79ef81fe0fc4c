-- Boards of tasks. The events of a board lie in `events` under the negative of its key, which no thread has. All that stands here is
-- folded from them, but for `leased_until`, which only keeps two processes from carrying out the same delivery at once.

CREATE TABLE boards (
    key   INTEGER PRIMARY KEY,
    id    TEXT    NOT NULL UNIQUE,
    state TEXT    NOT NULL             -- what is kept of the board as a whole, as JSON; small, however many tasks there are
) STRICT;

CREATE TABLE tasks (
    id          TEXT    PRIMARY KEY NOT NULL,  -- BOARD/t12
    board       INTEGER NOT NULL REFERENCES boards (key),
    number      INTEGER NOT NULL,
    title       TEXT    NOT NULL,
    prompt      TEXT    NOT NULL,
    priority    TEXT    NOT NULL CHECK (priority IN ('high', 'medium', 'low')),
    status      TEXT    NOT NULL CHECK (status IN ('pending', 'in_progress', 'blocked', 'completed', 'archived')),
    created_by  TEXT    NOT NULL,
    assigned_to TEXT,
    thread      TEXT,                          -- not REFERENCES: a task outlives the thread that worked on it
    urgency     INTEGER NOT NULL,              -- 0 for high, 1, 2
    rank        INTEGER NOT NULL,
    runnable    INTEGER NOT NULL,
    active      INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    body        TEXT    NOT NULL               -- all of it, as JSON
) STRICT;

CREATE UNIQUE INDEX tasks_number ON tasks (board, number);
CREATE INDEX tasks_column ON tasks (board, status, rank, number);
CREATE INDEX tasks_rank ON tasks (board, rank, number);
CREATE INDEX tasks_queue ON tasks (board, urgency, rank, number) WHERE runnable = 1;
CREATE INDEX tasks_active ON tasks (board, thread) WHERE active = 1;
CREATE INDEX tasks_thread ON tasks (thread) WHERE thread IS NOT NULL;

CREATE TABLE task_after (
    board INTEGER NOT NULL,
    task  INTEGER NOT NULL,
    after INTEGER NOT NULL,
    PRIMARY KEY (board, task, after)
) STRICT, WITHOUT ROWID;

CREATE INDEX task_dependents ON task_after (board, after, task);

CREATE TABLE task_notes (
    board INTEGER NOT NULL,
    task  INTEGER NOT NULL,
    n     INTEGER NOT NULL,                    -- of the event
    body  TEXT    NOT NULL,
    PRIMARY KEY (board, task, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE deliveries (
    key          INTEGER PRIMARY KEY,
    board        INTEGER NOT NULL,
    id           TEXT    NOT NULL,
    kind         TEXT    NOT NULL CHECK (kind IN ('start', 'assign', 'tell')),
    leased_until INTEGER NOT NULL,
    body         TEXT    NOT NULL,
    UNIQUE (board, id)
) STRICT;

CREATE INDEX deliveries_due ON deliveries (leased_until);

CREATE TABLE board_commands (
    board INTEGER NOT NULL,
    id    TEXT    NOT NULL,
    n     INTEGER NOT NULL,                    -- of its first event; its others follow
    many  INTEGER NOT NULL,
    PRIMARY KEY (board, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE agent_metadata (
    thread_id        TEXT    PRIMARY KEY NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    name             TEXT    NOT NULL,
    provider         TEXT    NOT NULL,
    model            TEXT    NOT NULL,
    type             TEXT    NOT NULL CHECK (type IN ('persistent', 'ephemeral')),
    created_for_task TEXT    REFERENCES tasks (id) ON DELETE SET NULL,
    parent_thread_id TEXT    NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    current_task     TEXT,
    created_at       INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
    board            INTEGER NOT NULL,
    agent            TEXT    NOT NULL,         -- the agent that it plays
    n                INTEGER NOT NULL          -- of the event
) STRICT;

CREATE INDEX agent_metadata_parent ON agent_metadata (parent_thread_id);
CREATE INDEX agent_metadata_agent ON agent_metadata (board, agent, n);
CREATE INDEX agent_metadata_task ON agent_metadata (created_for_task);
