"""Documents into builds: upload, delete, rebuild, verify, publish, roll back.

    upload -> load -> chunk -> embed -> write (live build)
    catalog + originals -> load -> chunk -> embed -> write (new build) -> verify -> publish

Invariant: the original and its catalog row exist before anything is written to the store, so
whatever stops the work, a rebuild brings everything in.
"""
