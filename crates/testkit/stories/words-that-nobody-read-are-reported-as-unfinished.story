Words that nobody read are reported as unfinished, and a later run reads them.

user: Go
  . run_started 1
  . turn_started 1
steer: Look at b too
  . steered i2 from person: Look at b too
stop: kill now
  . stop_begun by i3: cancelled, at once, now
fail: cancelled
  . call_failed 1, attempt 1: cancelled; not again; books its claim
  . reported cancelled, now
    | used 0 calls, 0 turns, 5025 tokens, 1 requests
    | unfinished: not read: Message from person while you work: Look at b too
user: Go on
  . run_started 2
  . turn_started 2
show: talk
  user <person>: Go
  user <steer>
    | Message from person while you work:
    | Look at b too
  user <person>: Go on
model: b it is.
  . answered 2, 110 tokens
  . reported completed: b it is.
    | used 0 calls, 1 turns, 110 tokens
