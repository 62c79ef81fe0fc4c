Another call in between ends a row of identical ones.

user: Go
  . run_started 1
  . turn_started 1
model: call read_file {"path":"a"} as r1
and call read_file {"path":"a"} as r2
and call read_file {"path":"a"} as r3
and call read_file {"path":"a"} as r4
and call read_file {"path":"b"} as r5
and call read_file {"path":"a"} as r6
  . answered 1, 110 tokens
    | r1 read_file runs
    | r2 read_file runs
    | r3 read_file runs
    | r4 read_file runs
    | r5 read_file runs
    | r6 read_file runs
  . tool_started r1
  . tool_started r2
  . tool_started r3
  . tool_started r4
  . tool_started r5
  . tool_started r6
tool r1: ok a
  . tool_finished r1 ok: a
tool r2: ok a
  . tool_finished r2 ok: a
tool r3: ok a
  . tool_finished r3 ok: a
tool r4: ok a
  . tool_finished r4 ok: a
tool r5: ok b
  . tool_finished r5 ok: b
tool r6: ok a
  . tool_finished r6 ok: a
  . turn_started 2
model: Enough.
  . answered 2, 110 tokens
  . reported completed: Enough.
    | used 6 calls, 2 turns, 220 tokens
