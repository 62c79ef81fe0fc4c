An answer that crosses a stop is kept, and its calls are not run.

user: Go
  . run_started 1
  . turn_started 1
stop: cancel enough
  . stop_begun by i2: cancelled, enough
model: I was about to look.
and call read_file {"path":"a"} as r1
  . answered 1, 110 tokens
  . turn_started 2, the last: cancelled, enough, at most 2048 tokens
model: Nothing was looked at.
  . answered 2, 110 tokens
  . reported cancelled, enough: Nothing was looked at.
    | used 0 calls, 2 turns, 220 tokens
