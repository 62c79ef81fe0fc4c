Most of a grant is warned about, once for each limit.

preset opta
grant tokens=20000 calls=5

user: Go
  . run_started 1
  . turn_started 1
model (8000+200): call read_file {"path":"a"} as r1
and call read_file {"path":"b"} as r2
  . answered 1, 8200 tokens
    | r1 read_file runs
    | r2 read_file runs
  . tool_started r1
  . tool_started r2
tool r1: ok a
  . tool_finished r1 ok: a
tool r2: ok b
  . tool_finished r2 ok: b
  . turn_started 2
model (8300+7000): call read_file {"path":"c"} as r3
and call read_file {"path":"d"} as r4
  . answered 2, 15300 tokens (7100 counted)
    | r3 read_file runs
    | r4 read_file runs
  . budget_warned tool_calls 80 %
  . tool_started r3
  . tool_started r4
tool r3: ok c
  . tool_finished r3 ok: c
tool r4: ok d
  . tool_finished r4 ok: d
  . turn_started 3
model (15400+1000): call read_file {"path":"e"} as r5
  . answered 3, 16400 tokens (1100 counted)
    | r5 read_file runs
  . budget_warned tokens 82 %
  . tool_started r5
tool r5: ok e
  . tool_finished r5 ok: e
  . turn_started 4, the last: budget_exceeded, the limit of 5 tool calls (max_tool_calls) is reached, at most 2048 tokens
model (16500+100): Enough.
  . answered 4, 16600 tokens (200 counted)
  . reported budget_exceeded, the limit of 5 tool calls (max_tool_calls) is reached: Enough.
    | used 5 calls, 4 turns, 16600 tokens
