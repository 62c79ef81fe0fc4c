An answer that breaks off is booked at what was reserved for it, and asked for again while the grant reaches.

grant tokens=12000

user: Go
  . run_started 1
  . turn_started 1
show: left
  6975 tokens, any money, any number of calls, 16 descendants
fail: truncated
and partial The roses are
  . call_failed 1, attempt 1: answer cut off; again in 0.5 s; books its claim
show: left
  1950 tokens, any money, any number of calls, 16 descendants
fail: truncated
and partial The roses were
  . call_failed 1, attempt 2: answer cut off; not again; books its claim
  . stop_begun: budget_exceeded, at once, the request failed (answer cut off), and the grant does not reach for another try
  . reported budget_exceeded, the request failed (answer cut off), and the grant does not reach for another try: The roses were
    | used 0 calls, 0 turns, 10050 tokens, 2 requests; in 0.5 s
show: left
  1950 tokens, any money, any number of calls, 16 descendants
