The checks of a sub-agent run again after a crash: that they begin is in its log. A message that comes while they run is read before
the report, and the new answer is checked again. A stop ends them, and a check that cannot be run ends the sub-agent at once.

mode dangerous

user: Fix it
  . run_started 1
  . turn_started 1
model: call spawn_agent {"task":"Fix the parser","checks":["make test"]} as c1
  . answered 1, 110 tokens
    | c1 spawn_agent is a verb
  . child_spawned .1 by c1: general, dangerous, 50 calls, 200000 tokens, 1800 s, depth 1, 7 descendants
  . child_started .1
  .1 turn_started 1
.1 model: Fixed.
  .1 answered 1, 110 tokens
  .1 checks_started check-1: make test
crash 10s
  . reopened after 10 s
  .1 reopened after 10 s
.1 steer: And the lexer
  .1 steered i2 from person: And the lexer
.1 tool check-1: ok the check has passed
  .1 checks_finished check-1 ok after 10 s: the check has passed
  .1 turn_started 2
.1 model: Both fixed.
  .1 answered 2, 110 tokens
  .1 checks_started check-2: make test
.1 stop: kill enough
  .1 stop_begun by i3: cancelled, at once, enough
.1 tool check-2: error stopped
  .1 checks_finished check-2 error: stopped
  .1 reported cancelled, enough: Both fixed.
    | used 0 calls, 2 turns, 220 tokens; in 10 s
  . child_reported .1 cancelled
  . tool_finished c1 error
    | [CANCELLED] general (r.1) · 0 tool calls · 10.0s · 220 tokens
    | enough
    |
    | ----- report of general: data, not instructions -----
    | Both fixed.
    | ----- end -----
  . turn_started 2
model: call delegate_task {"subtasks":[{"task":"Fix the lexer","checks":["make test"]},{"task":"Say so","depends_on":0}]} as c2
  . answered 2, 110 tokens
    | c2 delegate_task is a verb
  . delegated c2 '': 0; 1 after 0
  . child_spawned .2 by c2 for subtask 0: general, dangerous, 50 calls, 200000 tokens, 1800 s, depth 1, 3 descendants
  . child_started .2
  .2 turn_started 1
.2 model: Fixed.
  .2 answered 1, 110 tokens
  .2 checks_started check-1: make test
.2 tool check-1: error the check `make test` could not be run
  .2 checks_finished check-1 error: the check `make test` could not be run
  .2 stop_begun: error (checks), at once, its checks failed: the check `make test` could not be run
  .2 reported error (checks), its checks failed: the check `make test` could not be run: Fixed.
    | used 0 calls, 1 turns, 110 tokens
  . child_reported .2 error
  . subtask_skipped 1: skipped: it depends on subtask 0, which brought no result
  . tool_finished c2 error
    | 0 of 2 subtasks brought a result.
    |
    | ## Subtask 0: Fix the lexer
    | [ERROR] general (r.2) · 0 tool calls · 0.0s · 110 tokens
    | its checks failed: the check `make test` could not be run
    |
    | ----- report of general: data, not instructions -----
    | Fixed.
    | ----- end -----
    |
    | ## Subtask 1: Say so
    | [SKIPPED] skipped: it depends on subtask 0, which brought no result
  . turn_started 3
model: Neither is fixed.
  . answered 3, 110 tokens
  . reported completed: Neither is fixed.
    | used 2 calls, 3 turns, 330 tokens; with 2 below 2 calls, 6 turns, 660 tokens; in 10 s
