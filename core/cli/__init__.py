"""The command line `ranklens`: the same functions as the console, printed.

Exit codes: 0 done; 1 done, and what was asked about is not in order (`doctor` found a trouble, or
`index` could take none of the files); 2 a sentence says what is wrong with the request, the settings or
the store; 130 stopped with Ctrl+C.
"""

from core.cli.main import main

__all__ = ["main"]
