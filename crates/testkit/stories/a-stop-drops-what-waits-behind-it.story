What waits for its turn when a thread is stopped does not begin by itself, and what comes later does.

user: First
  . run_started 1
  . turn_started 1
user: Second
user: Third
stop: kill enough
  . input_dropped i2: not begun, because the thread was stopped (enough); send it again if it is still wanted: Second
  . input_dropped i3: not begun, because the thread was stopped (enough); send it again if it is still wanted: Third
  . stop_begun by i4: cancelled, at once, enough
user: Fourth
fail: cancelled
  . call_failed 1, attempt 1: cancelled; not again; books its claim
  . reported cancelled, enough
    | used 0 calls, 0 turns, 5026 tokens, 1 requests
  . run_started 2
  . turn_started 2
model: Done.
  . answered 2, 110 tokens
  . reported completed: Done.
    | used 0 calls, 1 turns, 110 tokens
