"""*Where is my chunk?*: the stage that lost an expected chunk, and the smallest change that keeps it.

`explaining` is the whole answer; `expecting` finds what is meant, `locating` reads the end from the
ledger, `standing` finds real ranks, `changing` lists single changes, `rescuing` tries them on the lists
of `recorded`, `sentences` has the words.
"""
