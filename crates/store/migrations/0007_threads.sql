-- What people say of a thread: what it is called, whether it was put away, whether its newest answer was read. And what it was created for.

ALTER TABLE threads ADD COLUMN title TEXT;
ALTER TABLE threads ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
ALTER TABLE threads ADD COLUMN unread INTEGER NOT NULL DEFAULT 0;
ALTER TABLE threads ADD COLUMN unwatched INTEGER NOT NULL DEFAULT 0;  -- whether no person waits for the answer to the newest message
ALTER TABLE threads ADD COLUMN persistent INTEGER NOT NULL DEFAULT 0;
ALTER TABLE threads ADD COLUMN created_for TEXT;

CREATE INDEX threads_created_for ON threads (key) WHERE created_for IS NOT NULL;

-- The words of conversations, to search in. It is brought up to date with the log when it is searched: `position` is how far it is.
CREATE VIRTUAL TABLE search USING fts5 (words, thread UNINDEXED, at UNINDEXED, tokenize = 'unicode61 remove_diacritics 2');
CREATE TABLE searched (position INTEGER NOT NULL) STRICT;
INSERT INTO searched (position) VALUES (0);
