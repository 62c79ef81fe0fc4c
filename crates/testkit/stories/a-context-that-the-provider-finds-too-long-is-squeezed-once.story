A context that the provider finds too long is squeezed once, and then it is the provider's error (F21).

user: Go
  . run_started 1
  . turn_started 1
model: call read_file {"path":"a"} as r1
  . answered 1, 110 tokens
    | r1 read_file runs
  . tool_started r1
tool r1: ok *2000
  . tool_finished r1 ok: word word word word word word word word … (2000 characters)
  . turn_started 2
model: call read_file {"path":"b"} as r2
  . answered 2, 110 tokens
    | r2 read_file runs
  . tool_started r2
tool r2: ok *2000
  . tool_finished r2 ok: word word word word word word word word … (2000 characters)
  . turn_started 3
model: call read_file {"path":"c"} as r3
  . answered 3, 110 tokens
    | r3 read_file runs
  . tool_started r3
tool r3: ok *2000
  . tool_finished r3 ok: word word word word word word word word … (2000 characters)
  . turn_started 4
model: call read_file {"path":"d"} as r4
  . answered 4, 110 tokens
    | r4 read_file runs
  . tool_started r4
tool r4: ok *2000
  . tool_finished r4 ok: word word word word word word word word … (2000 characters)
  . turn_started 5
fail: context_too_long
  . call_failed 5, attempt 1: context too long; not again; books nothing
  . context_trimmed r1: 2000 bytes
  . turn_started 6
fail: context_too_long
  . call_failed 6, attempt 1: context too long; not again; books nothing
  . stop_begun: error (provider), at once, context too long
  . reported error (provider), context too long
    | used 4 calls, 4 turns, 440 tokens, 6 requests
