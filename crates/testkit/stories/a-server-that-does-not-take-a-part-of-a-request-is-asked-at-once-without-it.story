A server that does not take a part of a request is asked again at once without it, and that costs a request.

user: Go
  . run_started 1
  . turn_started 1
fail: unsupported
  . call_failed 1, attempt 1: not supported; again in 0 s; books nothing
model: All is well.
  . answered 1, 110 tokens
  . reported completed: All is well.
    | used 0 calls, 1 turns, 110 tokens, 2 requests
