"""Questions that a server asks in the middle of a call: put to a person, and the call goes on with their answer.

`needs` says what is asked, `fields` reads forms and answers; both are pure. `held` keeps what waits, over restarts too;
`flights` knows the wire; `tools` has the two calls that a run makes for it on its own account.
"""
