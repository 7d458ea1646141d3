"""Keys that are legal and yet find every mistake in quoting, encoding and signing."""

ODD_KEYS = {
    "apostrophe": "o'clock",
    "only_apostrophes": "''",
    "double_quotes": 'say "hi"',
    "spaces": " two  spaces ",
    "percent": "100%",
    "percent_and_hex_digits": "a%41%2Fb%",
    "plus": "a+b",
    "ampersand": "a&b",
    "equals": "a=b",
    "parentheses": "f(x)",
    "comma": "a,RowKey='b",
    "punctuation": "!$*;:@~^`|{}[]<>_-.",
    "dots": "..",
    "accents": "naïve café",
    "combining_accent": "e\u0301",
    "cjk": "日本語",
    "right_to_left": "שלום",
    "emoji": "😀",
    "upper_and_lower": "aAzZ",
}
