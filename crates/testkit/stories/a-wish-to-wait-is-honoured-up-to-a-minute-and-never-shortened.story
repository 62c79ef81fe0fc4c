A provider's wish to wait is honoured up to a minute and never shortened (F14). A longer one ends the run.

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
  . call_failed 1, attempt 3: rate limited; not again; books nothing
  . stop_begun: error (provider), at once, rate limited; it asks to wait 3600 s, longer than 60 s (providers.test.max_retry_after_s)
  . reported error (provider), rate limited; it asks to wait 3600 s, longer than 60 s (providers.test.max_retry_after_s)
    | used 0 calls, 0 turns, 0 tokens, 3 requests; in 31 s
