"""How good retrieval is, measured on judged queries.

    file -> query set -> rank every query -> metrics per query -> means by kind -> rows

`query_sets` (values), `lines` and `reading` (files -> query set), `metrics` (ordered lists -> numbers),
`running` (a query set and a ranking function -> an evaluation), `pairing` (two of them, query by query).
Nothing here knows a store: what ranks is a function from query to document names.
"""
