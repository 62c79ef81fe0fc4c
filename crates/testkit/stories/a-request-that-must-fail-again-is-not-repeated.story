A request that must fail again is not repeated: no key, a bad request.

user: Go
  . run_started 1
  . turn_started 1
fail: auth
  . call_failed 1, attempt 1: not authorised; not again; books nothing
  . stop_begun: error (provider), at once, not authorised
  . reported error (provider), not authorised
    | used 0 calls, 0 turns, 0 tokens, 1 requests
user: Go
  . run_started 2
  . turn_started 2
fail: rejected
  . call_failed 2, attempt 1: request rejected; not again; books nothing
  . stop_begun: error (provider), at once, request rejected
  . reported error (provider), request rejected
    | used 0 calls, 0 turns, 0 tokens, 1 requests
