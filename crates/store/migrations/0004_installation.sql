-- What holds for the whole installation. Its events lie in `events` under the key 0, which no thread has.

CREATE TABLE installation (
    key   INTEGER PRIMARY KEY,  -- always 0
    state TEXT    NOT NULL      -- folded from those events, as JSON
) STRICT;
