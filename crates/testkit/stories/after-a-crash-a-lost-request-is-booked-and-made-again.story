After a crash a lost request is booked and made again (promise 7), and where the grant does not reach, it is not.

grant tokens=12000

user: Go
  . run_started 1
  . turn_started 1
show: left
  6975 tokens, any money, any number of calls, 16 descendants
crash 1s
  . reopened after 1 s
  . call_repeated 1; books its claim
show: left
  1950 tokens, any money, any number of calls, 16 descendants
crash 1s
  . reopened after 1 s
  . call_failed 1, attempt 1: answer cut off; not again; books its claim
  . stop_begun: budget_exceeded, at once, the process ended during a request, and the grant does not reach for another
  . reported budget_exceeded, the process ended during a request, and the grant does not reach for another
    | used 0 calls, 0 turns, 10050 tokens, 2 requests; in 2 s
show: left
  1950 tokens, any money, any number of calls, 16 descendants
