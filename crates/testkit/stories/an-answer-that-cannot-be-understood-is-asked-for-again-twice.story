An answer that cannot be understood may have been broken on its way: it is asked for again twice (F18).

user: Go
  . run_started 1
  . turn_started 1
fail: garbled
  . call_failed 1, attempt 1: answer not understood; again in 0.5 s; books its claim
fail: garbled
  . call_failed 1, attempt 2: answer not understood; again in 1 s; books its claim
fail: garbled
  . call_failed 1, attempt 3: answer not understood; not again; books its claim
  . stop_begun: error (provider), at once, answer not understood; given up after 3 tries in 1 s (providers.test.retry_s and .retries)
  . reported error (provider), answer not understood; given up after 3 tries in 1 s (providers.test.retry_s and .retries)
    | used 0 calls, 0 turns, 15075 tokens, 3 requests; in 1.5 s
