"""OAuth for servers over HTTP: the grant that a person gave us for one, and how it is asked for and renewed.

`grants` knows no SDK; `provider` is the SDK's own client of OAuth with our bounds; `browser` waits for a person to come
back from the login page.
"""
