-- All tables of a new database: what the steps beside this file come to, made at once. A test compares the two. A step that is added changes this
-- file, too. Text names are kept once; inside, rows refer to each other by integer keys. Moments are milliseconds since 1970.

CREATE TABLE processes (
    key        INTEGER PRIMARY KEY,
    id         TEXT    NOT NULL UNIQUE,
    pid        INTEGER NOT NULL,
    start_time INTEGER NOT NULL,
    host       TEXT    NOT NULL,
    beat_at    INTEGER NOT NULL
) STRICT;

CREATE TABLE threads (
    key        INTEGER PRIMARY KEY,
    id         TEXT    NOT NULL UNIQUE,
    root       INTEGER NOT NULL,            -- a thread, as the parent is; not REFERENCES, which would look for both at every change
    parent     INTEGER,
    seq        INTEGER NOT NULL DEFAULT 0,  -- events of the whole family; counted in the root's row alone
    owner      INTEGER REFERENCES processes (key) ON DELETE SET NULL,
    epoch      INTEGER NOT NULL,
    name       TEXT    NOT NULL,
    agent      TEXT    NOT NULL,
    model      TEXT    NOT NULL,
    mode       TEXT    NOT NULL,
    preset     TEXT    NOT NULL,
    goal       TEXT    NOT NULL,
    outcome    TEXT,
    runs       INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    ended_at   INTEGER,
    live       INTEGER NOT NULL DEFAULT 0,
    title      TEXT,
    archived   INTEGER NOT NULL DEFAULT 0,
    unread     INTEGER NOT NULL DEFAULT 0,
    unwatched  INTEGER NOT NULL DEFAULT 0,  -- whether no person waits for the answer to the newest message
    persistent INTEGER NOT NULL DEFAULT 0,
    created_for TEXT                        -- a task, by its name
) STRICT;

CREATE INDEX threads_root ON threads (root);
CREATE INDEX threads_parent ON threads (parent);
CREATE INDEX threads_owner ON threads (owner) WHERE owner IS NOT NULL;
CREATE INDEX threads_live ON threads (key) WHERE live = 1;
CREATE INDEX threads_created_for ON threads (key) WHERE created_for IS NOT NULL;

-- A position is never used twice, not even after a removal: followers remember positions.
CREATE TABLE events (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    root     INTEGER NOT NULL,  -- a thread; not REFERENCES, which would look it up twice for every event
    seq      INTEGER NOT NULL,
    thread   INTEGER NOT NULL,
    n        INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    kind     TEXT    NOT NULL,
    version  INTEGER NOT NULL,
    body     TEXT    NOT NULL
) STRICT;

CREATE UNIQUE INDEX events_thread ON events (thread, n);
CREATE UNIQUE INDEX events_family ON events (root, seq);

CREATE TABLE inputs (
    thread   INTEGER NOT NULL REFERENCES threads (key),
    id       TEXT    NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (thread, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE wakes (
    key          INTEGER PRIMARY KEY AUTOINCREMENT,
    thread       INTEGER NOT NULL REFERENCES threads (key),
    due          INTEGER NOT NULL,
    leased_until INTEGER
) STRICT;

CREATE INDEX wakes_thread ON wakes (thread, due);

CREATE TABLE sub_agent_execution (
    id               TEXT    PRIMARY KEY NOT NULL,
    workflow_id      TEXT    NOT NULL,
    parent_agent_id  TEXT    NOT NULL,
    sub_agent_id     TEXT    NOT NULL,              -- the same as the id
    sub_agent_name   TEXT    NOT NULL,
    task_description TEXT    NOT NULL,
    status           TEXT    NOT NULL CHECK (status = 'pending' OR status = 'running' OR status = 'completed' OR status = 'error' OR status = 'cancelled'),
    outcome          TEXT,
    duration_ms      INTEGER,
    tokens_input     INTEGER,
    tokens_output    INTEGER,
    result_summary   TEXT,
    error_message    TEXT,
    created_at       INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
    completed_at     INTEGER
) STRICT;

CREATE INDEX sub_agent_execution_workflow ON sub_agent_execution (workflow_id);
CREATE INDEX sub_agent_execution_parent ON sub_agent_execution (parent_agent_id);

-- Everything has a default: where nothing can be missing, SQLite need not be ready to take back half a statement.
CREATE TABLE progress (
    thread             INTEGER PRIMARY KEY,             -- of `threads`; not REFERENCES, which would look it up for every commit
    head               INTEGER NOT NULL DEFAULT 0,      -- events of the thread
    turns              INTEGER NOT NULL DEFAULT 0,
    tool_calls         INTEGER NOT NULL DEFAULT 0,
    answers            INTEGER NOT NULL DEFAULT 0,
    tokens_input       INTEGER NOT NULL DEFAULT 0,
    tokens_cache_read  INTEGER NOT NULL DEFAULT 0,
    tokens_cache_write INTEGER NOT NULL DEFAULT 0,
    tokens_output      INTEGER NOT NULL DEFAULT 0,
    booked_tokens      INTEGER NOT NULL DEFAULT 0,      -- for calls whose answer was lost
    cost_microusd      INTEGER NOT NULL DEFAULT 0,
    last_tool          TEXT,
    waiting_for        TEXT,
    updated_at         INTEGER NOT NULL DEFAULT 0,
    doing              TEXT    NOT NULL DEFAULT '{}',   -- what the next fold must know; nobody else reads it
    state              TEXT    NOT NULL DEFAULT 'idle'
        CHECK (state = 'processing' OR state = 'waiting_for_tool' OR state = 'delegating' OR state = 'initializing' OR state = 'idle'
            OR state = 'waiting_for_user' OR state = 'completing' OR state = 'error' OR state = 'loading_context')
) STRICT;

-- Questions to people, folded from the log of the thread that asks.
CREATE TABLE approvals (
    position     INTEGER PRIMARY KEY,             -- of the event that asks
    id           TEXT    NOT NULL UNIQUE,
    root         INTEGER NOT NULL REFERENCES threads (key),
    thread       INTEGER NOT NULL REFERENCES threads (key),
    call         TEXT    NOT NULL,
    tool         TEXT    NOT NULL,
    risk         TEXT    NOT NULL,
    effect       TEXT    NOT NULL,
    path         TEXT    NOT NULL,                -- the names of the agents from the root to the one that asks
    requested_at INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    status       TEXT    NOT NULL CHECK (status IN ('pending', 'decided', 'approved', 'answered', 'denied', 'forbidden',
                                                    'expired', 'unanswered', 'withdrawn')),
    decided_by   TEXT,                            -- the input that decided, until its owner has taken it up
    decided_at   INTEGER,
    reason       TEXT,
    answer       TEXT,                            -- what a person answered
    question     TEXT    NOT NULL                 -- all of it, as JSON
) STRICT;

CREATE INDEX approvals_root ON approvals (root);
CREATE INDEX approvals_thread ON approvals (thread);
CREATE INDEX approvals_open ON approvals (position) WHERE status IN ('pending', 'decided');

-- What holds for the whole installation. Its events lie in `events` under the key 0, which no thread has.
CREATE TABLE installation (
    key   INTEGER PRIMARY KEY,  -- always 0
    state TEXT    NOT NULL      -- folded from those events, as JSON
) STRICT;

-- The words of conversations, to search in. It is brought up to date with the log when it is searched: `position` is how far it is.
CREATE VIRTUAL TABLE search USING fts5 (words, thread UNINDEXED, at UNINDEXED, tokenize = 'unicode61 remove_diacritics 2');
CREATE TABLE searched (position INTEGER NOT NULL) STRICT;
INSERT INTO searched (position) VALUES (0);

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

-- Processes that work tasks: they are shown while they wait for work, too. A row goes with its process.

CREATE TABLE workers (
    process INTEGER PRIMARY KEY REFERENCES processes (key) ON DELETE CASCADE,
    body    TEXT    NOT NULL                   -- what it works, as JSON
) STRICT;
