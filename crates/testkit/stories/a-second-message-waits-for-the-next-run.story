A second message waits for the next run, a message sent twice is one, and the conversation goes on.

user: First
  . run_started 1
  . turn_started 1
user: Second
resend
model: First done.
  . answered 1, 110 tokens
  . reported completed: First done.
    | used 0 calls, 1 turns, 110 tokens
  . run_started 2
  . turn_started 2
model: Second done.
  . answered 2, 110 tokens
  . reported completed: Second done.
    | used 0 calls, 1 turns, 110 tokens
show: talk
  user <person>: First
  assistant <model>: First done.
  user <person>: Second
  assistant <model>: Second done.
user: Third
  . run_started 3
  . turn_started 3
model: Third done.
  . answered 3, 110 tokens
  . reported completed: Third done.
    | used 0 calls, 1 turns, 110 tokens
