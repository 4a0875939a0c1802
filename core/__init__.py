"""The retrieval core of RankLens.

    upload -> load -> chunk -> embed -> write port -> Milvus -> search port -> retrieve
           -> refine -> pack -> project -> lookup result -> pages

Each arrow is one function from value to value. Nothing here knows Streamlit; only
`core.adapters.milvus` knows pymilvus; only `core.wiring` names concrete adapters.
"""
