"""From an uploaded file to chunks: `loading.load` and then `chunking.chunk`.

    name + bytes -> naming -> readers (decoding, front matter) -> Document
    Document -> structure (blocks, sections) -> splitting -> Chunk, Chunk, ...

A new file format is one more module in `readers` and one more line in its table; what comes after
reads only text and the kind of its markup.
"""
