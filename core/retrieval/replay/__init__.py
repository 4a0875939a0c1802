"""Lookups that are saved, opened again later, and run again to see what changed.

    LookupResult + Surroundings -> Bundle -> JSON text -> Bundle -> replay -> Comparison

`bundles` (the values), `surroundings` (what shapes a lookup beside its configuration), `writing`,
`reading`, `running` (asks again), `comparing` (two lookups to a `Comparison`), `explaining` (its one
sentence).
"""
