-- The log, and what is folded from it. The tables are those of the embedded store, in the words of PostgreSQL. Text names are kept once;
-- inside, rows refer to each other by integer keys. Moments are milliseconds since 1970. JSON is kept as text: `jsonb` refuses some texts.

CREATE SEQUENCE thread_keys;

-- A position is never used twice. It is taken under a lock that is held until the transaction is committed, so that transactions become
-- visible in the order of their positions.
CREATE SEQUENCE event_positions;

CREATE TABLE processes (
    key          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id           TEXT   NOT NULL UNIQUE,
    pid          BIGINT NOT NULL,
    start_time   BIGINT NOT NULL,
    host         TEXT   NOT NULL,
    beat_at      BIGINT NOT NULL,  -- by the clock of the database
    steady_since BIGINT NOT NULL   -- since when no two heartbeats were a lease or more apart
) WITH (fillfactor = 50);

CREATE TABLE threads (
    key         BIGINT  PRIMARY KEY,
    id          TEXT    NOT NULL COLLATE "C" UNIQUE,
    root        BIGINT  NOT NULL,
    parent      BIGINT,
    seq         BIGINT  NOT NULL DEFAULT 0,  -- events of the whole family; counted in the root's row alone
    owner       BIGINT,                      -- a process
    epoch       BIGINT  NOT NULL,
    name        TEXT    NOT NULL,
    agent       TEXT    NOT NULL,
    model       TEXT    NOT NULL,
    mode        TEXT    NOT NULL,
    preset      TEXT    NOT NULL,
    goal        TEXT    NOT NULL,
    outcome     TEXT,
    runs        BIGINT  NOT NULL,
    created_at  BIGINT  NOT NULL,
    ended_at    BIGINT,
    live        BOOLEAN NOT NULL,
    title       TEXT,
    archived    BOOLEAN NOT NULL DEFAULT FALSE,
    unread      BOOLEAN NOT NULL DEFAULT FALSE,
    unwatched   BOOLEAN NOT NULL,            -- whether no person waits for the answer to the newest message
    persistent  BOOLEAN NOT NULL,
    created_for TEXT
) WITH (fillfactor = 70);

CREATE INDEX threads_root ON threads (root, key);
CREATE INDEX threads_roots ON threads (key) WHERE parent IS NULL;
CREATE INDEX threads_owner ON threads (owner) WHERE owner IS NOT NULL;
CREATE INDEX threads_live ON threads (key) WHERE live;
CREATE INDEX threads_created_for ON threads (key) WHERE created_for IS NOT NULL;

-- What changes with nearly every commit.
CREATE TABLE progress (
    thread             BIGINT PRIMARY KEY,
    head               BIGINT NOT NULL,       -- events of the thread
    turns              BIGINT NOT NULL,
    tool_calls         BIGINT NOT NULL,
    answers            BIGINT NOT NULL,
    tokens_input       BIGINT NOT NULL,
    tokens_cache_read  BIGINT NOT NULL,
    tokens_cache_write BIGINT NOT NULL,
    tokens_output      BIGINT NOT NULL,
    booked_tokens      BIGINT NOT NULL,       -- for calls whose answer was lost
    cost_microusd      BIGINT NOT NULL,
    last_tool          TEXT,
    waiting_for        TEXT,
    updated_at         BIGINT NOT NULL,
    state              TEXT   NOT NULL,
    doing              TEXT   NOT NULL        -- what the next fold must know; nobody else reads it
) WITH (fillfactor = 70);

CREATE TABLE events (
    position BIGINT  PRIMARY KEY,
    root     BIGINT  NOT NULL,  -- a thread; 0 for the installation, negative for a board
    seq      BIGINT  NOT NULL,
    thread   BIGINT  NOT NULL,
    n        BIGINT  NOT NULL,
    at       BIGINT  NOT NULL,
    kind     TEXT    NOT NULL,
    version  INTEGER NOT NULL,
    body     TEXT    NOT NULL
);

CREATE UNIQUE INDEX events_thread ON events (thread, n);
CREATE UNIQUE INDEX events_family ON events (root, seq);
CREATE INDEX events_boards ON events (position) WHERE thread < 0;

CREATE TABLE inputs (
    thread   BIGINT NOT NULL,
    id       TEXT   NOT NULL,
    position BIGINT NOT NULL,
    PRIMARY KEY (thread, id)
);

CREATE TABLE wakes (
    key          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    thread       BIGINT NOT NULL,
    due          BIGINT NOT NULL,
    leased_until BIGINT
);

CREATE INDEX wakes_thread ON wakes (thread, due);

CREATE TABLE sub_agent_execution (
    number           BIGINT GENERATED ALWAYS AS IDENTITY,  -- the order of their spawning
    id               TEXT   PRIMARY KEY,
    workflow_id      TEXT   NOT NULL,
    parent_agent_id  TEXT   NOT NULL,
    sub_agent_id     TEXT   NOT NULL,
    sub_agent_name   TEXT   NOT NULL,
    task_description TEXT   NOT NULL,
    status           TEXT   NOT NULL CHECK (status IN ('pending', 'running', 'completed', 'error', 'cancelled')),
    outcome          TEXT,
    duration_ms      BIGINT,
    tokens_input     BIGINT,
    tokens_output    BIGINT,
    result_summary   TEXT,
    error_message    TEXT,
    created_at       BIGINT NOT NULL,
    completed_at     BIGINT
) WITH (fillfactor = 70);

CREATE INDEX sub_agent_execution_workflow ON sub_agent_execution (workflow_id, number);

CREATE TABLE approvals (
    position     BIGINT PRIMARY KEY,             -- of the event that asks
    id           TEXT   NOT NULL UNIQUE,
    root         BIGINT NOT NULL,
    thread       BIGINT NOT NULL,
    call         TEXT   NOT NULL,
    tool         TEXT   NOT NULL,
    risk         TEXT   NOT NULL,
    effect       TEXT   NOT NULL,
    path         TEXT   NOT NULL,                -- the names of the agents from the root to the one that asks
    requested_at BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    status       TEXT   NOT NULL CHECK (status IN ('pending', 'decided', 'approved', 'answered', 'denied', 'forbidden',
                                                   'expired', 'unanswered', 'withdrawn')),
    decided_by   TEXT,                           -- the input that decided, until its owner has taken it up
    decided_at   BIGINT,
    reason       TEXT,
    answer       TEXT,                           -- what a person answered
    question     TEXT   NOT NULL                 -- all of it, as JSON
);

CREATE INDEX approvals_root ON approvals (root);
CREATE INDEX approvals_thread ON approvals (thread);
CREATE INDEX approvals_open ON approvals (position) WHERE status IN ('pending', 'decided');

-- What holds for the whole installation. Its events lie in `events` under the key 0, which no thread has.
CREATE TABLE installation (
    key   BIGINT PRIMARY KEY CHECK (key = 0),
    state TEXT   NOT NULL                        -- folded from those events, as JSON
);

-- The words of conversations, to search in. It is brought up to date with the log when it is searched: `position` is how far it is.
CREATE TABLE search (
    thread  BIGINT   NOT NULL,
    at      BIGINT   NOT NULL,
    words   TEXT     NOT NULL,
    lexemes TSVECTOR NOT NULL
);

CREATE INDEX search_lexemes ON search USING gin (lexemes);
CREATE INDEX search_thread ON search (thread);

CREATE TABLE searched (
    one      BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (one),
    position BIGINT  NOT NULL
);

INSERT INTO searched (position) VALUES (0);

-- Boards of tasks. The events of a board lie in `events` under the negative of its key, which no thread has. All that stands here is
-- folded from them, but for `leased_until`, which only keeps two processes from carrying out the same delivery at once.
CREATE TABLE boards (
    key   BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id    TEXT   NOT NULL UNIQUE,
    state TEXT   NOT NULL              -- what is kept of the board as a whole, as JSON; small, however many tasks there are
);

CREATE TABLE tasks (
    id          TEXT    PRIMARY KEY,   -- BOARD/t12
    board       BIGINT  NOT NULL REFERENCES boards (key),
    number      BIGINT  NOT NULL,
    title       TEXT    NOT NULL,
    prompt      TEXT    NOT NULL,
    priority    TEXT    NOT NULL CHECK (priority IN ('high', 'medium', 'low')),
    status      TEXT    NOT NULL CHECK (status IN ('pending', 'in_progress', 'blocked', 'completed', 'archived')),
    created_by  TEXT    NOT NULL,
    assigned_to TEXT,
    thread      TEXT,                  -- not REFERENCES: a task outlives the thread that worked on it
    urgency     BIGINT  NOT NULL,      -- 0 for high, 1, 2
    rank        BIGINT  NOT NULL,
    runnable    BOOLEAN NOT NULL,
    active      BOOLEAN NOT NULL,
    created_at  BIGINT  NOT NULL,
    updated_at  BIGINT  NOT NULL,
    body        TEXT    NOT NULL       -- all of it, as JSON
);

CREATE UNIQUE INDEX tasks_number ON tasks (board, number);
CREATE INDEX tasks_column ON tasks (board, status, rank, number);
CREATE INDEX tasks_rank ON tasks (board, rank, number);
CREATE INDEX tasks_queue ON tasks (board, urgency, rank, number) WHERE runnable;
CREATE INDEX tasks_active ON tasks (board, thread) WHERE active;
CREATE INDEX tasks_thread ON tasks (thread) WHERE thread IS NOT NULL;

CREATE TABLE task_after (
    board BIGINT NOT NULL,
    task  BIGINT NOT NULL,
    after BIGINT NOT NULL,
    PRIMARY KEY (board, task, after)
);

CREATE INDEX task_dependents ON task_after (board, after, task);

CREATE TABLE task_notes (
    board BIGINT NOT NULL,
    task  BIGINT NOT NULL,
    n     BIGINT NOT NULL,             -- of the event
    body  TEXT   NOT NULL,
    PRIMARY KEY (board, task, n)
);

CREATE TABLE deliveries (
    key          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    board        BIGINT NOT NULL,
    id           TEXT   NOT NULL,
    kind         TEXT   NOT NULL CHECK (kind IN ('start', 'assign', 'tell')),
    leased_until BIGINT NOT NULL,
    body         TEXT   NOT NULL,
    UNIQUE (board, id)
);

CREATE INDEX deliveries_due ON deliveries (leased_until);

CREATE TABLE board_commands (
    board BIGINT NOT NULL,
    id    TEXT   NOT NULL,
    n     BIGINT NOT NULL,             -- of its first event; its others follow
    many  BIGINT NOT NULL,
    PRIMARY KEY (board, id)
);

CREATE TABLE agent_metadata (
    thread_id        TEXT   PRIMARY KEY REFERENCES threads (id) ON DELETE CASCADE,
    name             TEXT   NOT NULL,
    provider         TEXT   NOT NULL,
    model            TEXT   NOT NULL,
    type             TEXT   NOT NULL CHECK (type IN ('persistent', 'ephemeral')),
    created_for_task TEXT   REFERENCES tasks (id) ON DELETE SET NULL,
    parent_thread_id TEXT   NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    current_task     TEXT,
    created_at       BIGINT NOT NULL,
    board            BIGINT NOT NULL,
    agent            TEXT   NOT NULL,  -- the agent that it plays
    n                BIGINT NOT NULL   -- of the event
);

CREATE INDEX agent_metadata_parent ON agent_metadata (parent_thread_id);
CREATE INDEX agent_metadata_agent ON agent_metadata (board, agent, n);
CREATE INDEX agent_metadata_task ON agent_metadata (created_for_task);

-- Processes that work tasks: they are shown while they wait for work, too. A row goes with its process.
CREATE TABLE workers (
    process BIGINT PRIMARY KEY REFERENCES processes (key) ON DELETE CASCADE,
    body    TEXT   NOT NULL            -- what it works, as JSON
);
