After a crash a retry still waits for its time, and costs nothing more.

grant tokens=50000

user: Go
  . run_started 1
  . turn_started 1
show: left
  44975 tokens, any money, any number of calls, 16 descendants
fail: rate_limited
and after 60s
  . call_failed 1, attempt 1: rate limited; again in 60 s; books nothing
crash 5s
  . reopened after 5 s
show: left
  44975 tokens, any money, any number of calls, 16 descendants
model: At last.
  . answered 1, 110 tokens
  . reported completed: At last.
    | used 0 calls, 1 turns, 110 tokens, 2 requests; in 60 s
