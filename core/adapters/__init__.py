"""Concrete stores and models behind the ports of `core.ports`.

`memory` is the reference: exact, small and written to be read. `milvus` is the store in use. Both
share the analyzer, the row checks and the formulas beside them, and one contract test holds both.
"""
