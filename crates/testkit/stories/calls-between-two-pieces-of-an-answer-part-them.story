Calls between two pieces of an answer part them, and two pieces that are alike are still two.

user: Go
  . run_started 1
  . turn_started 1
model (cut): ha
  . answered 1, 110 tokens
  . turn_started 2
model: ha
  . answered 2, 110 tokens
  . reported completed: haha
    | used 0 calls, 2 turns, 220 tokens
user: Again
  . run_started 2
  . turn_started 3
model (cut): I shall lo
  . answered 3, 110 tokens
  . turn_started 4
model: call read_file {"path":"a"} as r1
  . answered 4, 110 tokens
    | r1 read_file runs
  . tool_started r1
tool r1: ok text
  . tool_finished r1 ok: text
  . turn_started 5
model: Done.
  . answered 5, 110 tokens
  . reported completed: Done.
    | used 1 calls, 3 turns, 330 tokens
