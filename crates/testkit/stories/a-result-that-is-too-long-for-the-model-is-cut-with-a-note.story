A result that is too long for the model is cut with a note where the rest is; the log keeps all of it (F21).

model test/small

user: Go
  . run_started 1
  . turn_started 1
model: call read_file {"path":"a"} as r1
  . answered 1, 110 tokens
    | r1 read_file runs
  . tool_started r1
tool r1: ok *40000
  . tool_finished r1 ok: word word word word word word word word … (40000 characters)
  . context_trimmed r1: 21039 bytes
  . turn_started 2
show: talk
  user <person>: Go
  assistant calls read_file {"path":"a"} as r1
  user <result of r1>: word word word word word word word word … (18961 characters)
model: Long.
  . answered 2, 110 tokens
  . reported completed: Long.
    | used 1 calls, 2 turns, 220 tokens
