Where a check needs a person's consent, the person is asked before the sub-agent is started, and sees the commands.

mode ask
consent asked

user: Fix it
  . run_started 1
  . turn_started 1
model: call spawn_agent {"task":"Fix the parser","checks":["make test"]} as c1
  . answered 1, 110 tokens
    | c1 spawn_agent is a verb that is asked about
  . approval_requested 1 for c1: starts the sub-agent general; when it is done, runs `make test` (low risk; the check `make test`: mode ask: actions outside the workspace need approval (agent general))
