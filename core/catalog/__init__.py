"""What was uploaded and what was done with it: the catalog (a database) and the originals (files).

The catalog and the originals are the truth; every build of the vector store can be made again
from them.
"""
