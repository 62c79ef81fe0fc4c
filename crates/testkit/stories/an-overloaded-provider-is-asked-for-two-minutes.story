A provider that is overloaded or cannot be reached is asked again for two minutes, however often that is (F14, F15).

user: Go
  . run_started 1
  . turn_started 1
fail: overloaded
  . call_failed 1, attempt 1: overloaded; again in 0.5 s; books nothing
fail: connection
  . call_failed 1, attempt 2: no connection; again in 1 s; books nothing
fail: overloaded
  . call_failed 1, attempt 3: overloaded; again in 2 s; books nothing
fail: rate_limited
  . call_failed 1, attempt 4: rate limited; again in 4 s; books nothing
fail: overloaded
  . call_failed 1, attempt 5: overloaded; again in 8 s; books nothing
fail: connection
  . call_failed 1, attempt 6: no connection; again in 15 s; books nothing
fail: overloaded
  . call_failed 1, attempt 7: overloaded; again in 15 s; books nothing
fail: overloaded
  . call_failed 1, attempt 8: overloaded; again in 15 s; books nothing
fail: overloaded
  . call_failed 1, attempt 9: overloaded; again in 15 s; books nothing
fail: overloaded
  . call_failed 1, attempt 10: overloaded; again in 15 s; books nothing
fail: overloaded
  . call_failed 1, attempt 11: overloaded; again in 15 s; books nothing
fail: overloaded
  . call_failed 1, attempt 12: overloaded; again in 15 s; books nothing
fail: overloaded
  . call_failed 1, attempt 13: overloaded; not again; books nothing
  . stop_begun: error (provider), at once, overloaded; given up after 13 tries in 120 s (providers.test.retry_s and .retries)
  . reported error (provider), overloaded; given up after 13 tries in 120 s (providers.test.retry_s and .retries)
    | used 0 calls, 0 turns, 0 tokens, 13 requests; in 120.5 s
