A request is tried five times, with growing waits, and then given up as the provider's error.

user: Go
  . run_started 1
  . turn_started 1
fail: overloaded
  . call_failed 1, attempt 1: overloaded; again in 0.5 s; books nothing
fail: server
  . call_failed 1, attempt 2: server error; again in 1 s; books nothing
fail: connection
  . call_failed 1, attempt 3: no connection; again in 2 s; books nothing
fail: rate_limited
  . call_failed 1, attempt 4: rate limited; again in 4 s; books nothing
fail: server
  . call_failed 1, attempt 5: server error; not again; books nothing
  . stop_begun: error (provider), at once, server error; given up after 5 tries in 7 s (providers.test.retry_s and .retries)
  . reported error (provider), server error; given up after 5 tries in 7 s (providers.test.retry_s and .retries)
    | used 0 calls, 0 turns, 0 tokens, 5 requests; in 7.5 s
