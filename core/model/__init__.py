"""The frozen values that flow along the line; they import nothing but each other.

`documents` (what is stored), `search` (what a search asks and finds), `lookup` (what became of
every candidate, and what the agent sees).
"""
