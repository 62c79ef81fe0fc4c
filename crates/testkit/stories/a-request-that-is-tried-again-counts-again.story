A request that is tried again counts each time, and where none is left it is not tried again (T70).

grant requests=3

user: Go
  . run_started 1
  . turn_started 1
fail: overloaded
  . call_failed 1, attempt 1: overloaded; again in 0.5 s; books nothing
wait 1s
fail: overloaded
  . call_failed 1, attempt 2: overloaded; again in 1 s; books nothing
wait 1s
fail: overloaded
  . call_failed 1, attempt 3: overloaded; not again; books nothing
  . stop_begun: budget_exceeded, at once, the request failed (overloaded), and the grant does not reach for another try
  . reported budget_exceeded, the request failed (overloaded), and the grant does not reach for another try
    | used 0 calls, 0 turns, 0 tokens, 3 requests; in 2 s
