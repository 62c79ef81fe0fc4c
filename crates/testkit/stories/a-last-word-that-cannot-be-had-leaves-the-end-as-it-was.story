A last word that cannot be had leaves the end as it was: the provider fails, or the time is over meanwhile.

grant time=60s

user: Go
  . run_started 1
  . turn_started 1
stop: cancel enough
  . stop_begun by i2: cancelled, enough
fail: cancelled
  . call_failed 1, attempt 1: cancelled; not again; books its claim
  . turn_started 2, the last: cancelled, enough, at most 2048 tokens
fail: auth
  . call_failed 2, attempt 1: not authorised; not again; books nothing
  . reported cancelled, enough
    | used 0 calls, 0 turns, 5025 tokens, 2 requests
user: Go on
  . run_started 2
  . turn_started 3
stop: cancel enough
  . stop_begun by i4: cancelled, enough
fail: cancelled
  . call_failed 3, attempt 1: cancelled; not again; books its claim
  . turn_started 4, the last: cancelled, enough, at most 2048 tokens
wait 60s
  . at 60 s, stop_begun: cancelled, at once, enough
fail: cancelled
  . call_failed 4, attempt 1: cancelled; not again; books its claim
  . reported cancelled, enough
    | used 0 calls, 0 turns, 8209 tokens, 2 requests; in 60 s
