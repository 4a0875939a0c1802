"""A tokenizer without a model: a token is a word."""


class WordCounter:
    max_tokens = 512
    overhead_tokens = 2

    def count(self, texts: list[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        spans, start = [], 0
        for word in text.split():
            start = text.index(word, start)
            spans.append((start, start + len(word)))
            start += len(word)
        return spans
