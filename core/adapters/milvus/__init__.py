"""Milvus behind the three store ports: Milvus Lite in this process, or a server.

`schema` (fields and indexes), `expressions` (every filter), `errors` (their errors to ours),
`local_file` (the folder of Milvus Lite), `connection` (the one client), `stored` (what a collection
is), `searcher`, `writer`, `lifecycle`, `probing`. Invariant: no pymilvus value and no pymilvus error
leaves this package, and pymilvus is imported only when a connection is first used.
"""
