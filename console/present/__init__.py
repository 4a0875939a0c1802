"""From core values to the rows, labels and sentences of the pages; no Streamlit, no input or output.

One module per page, beside `matching` (where a query's words stand in a text), `overlap` (how alike
two lists are), `units` (how a number is written) and `inert` (document text inside labels).
"""
