"""Serving an agent: the lookup and its explanation as tools of the Model Context Protocol.

    arguments -> `answering` -> JSON object -> `server` -> standard output

`offers` says what the tools are, `answering` runs them without knowing the protocol, `server` is the
one module that knows it. Invariant: an agent gets what `ranklens lookup --json` prints for the same
question and settings, with no score and no rank.
"""
