A provider that counts nothing is estimated, so that no answer is free.

grant tokens=50000

user: Go
  . run_started 1
  . turn_started 1
show: left
  44975 tokens, any money, any number of calls, 16 descendants
model (uncounted): Here are some words.
  . answered 1, estimated
  . reported completed: Here are some words.
    | used 0 calls, 1 turns, 1034 tokens
show: left
  48966 tokens, any money, any number of calls, 16 descendants
