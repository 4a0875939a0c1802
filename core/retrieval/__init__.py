"""From a question to what the agent sees: retrieve -> refine -> pack -> project.

`lookup` is the whole line; the other modules hold one stage each.
"""
