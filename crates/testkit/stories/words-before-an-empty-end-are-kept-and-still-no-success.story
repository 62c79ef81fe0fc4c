Words before an empty end are kept, and it is still no success.

user: Go
  . run_started 1
  . turn_started 1
model: I shall look.
and call read_file {"path":"a"} as r1
  . answered 1, 110 tokens
    | r1 read_file runs
  . tool_started r1
tool r1: ok text
  . tool_finished r1 ok: text
  . turn_started 2
model: nothing
  . answered 2, 110 tokens
  . reported no_output, the agent ended without a word: I shall look.
    | used 1 calls, 2 turns, 220 tokens
