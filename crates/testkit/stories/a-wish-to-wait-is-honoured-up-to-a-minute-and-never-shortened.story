A provider's wish to wait is honoured up to a minute and never shortened (F14).

user: Go
  . run_started 1
  . turn_started 1
fail: rate_limited
and after 30s
  . call_failed 1, attempt 1: rate limited; again in 30 s; books nothing
fail: rate_limited
and after 100ms
  . call_failed 1, attempt 2: rate limited; again in 1 s; books nothing
fail: rate_limited
and after 3600s
  . call_failed 1, attempt 3: rate limited; again in 60 s; books nothing
model: At last.
  . answered 1, 110 tokens
  . reported completed: At last.
    | used 0 calls, 1 turns, 110 tokens, 4 requests; in 91 s
