//! The code blocks of a document.

/// A code block, or a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    path: String,
    /// Of its first line of code, counted from one.
    line: usize,
    pub(super) language: String,
    pub(super) text: String,
}

impl Block {
    pub(super) fn file(path: String, text: String) -> Self {
        Self { path, line: 1, language: String::new(), text }
    }

    /// A problem of this block, with the place where it stands.
    pub(super) fn problem(&self, why: &str) -> String {
        format!("{}:{}: {}", self.path, self.line, why.trim())
    }
}

/// Returns the blocks with a language. One that is marked `ignore` is a part of something, and no parser takes it.
pub(super) fn in_document(path: &str, document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, Block)> = None;
    for (line, number) in document.lines().zip(1..) {
        let fence = line.trim_start();
        let indent = line.len() - fence.len();
        match (fence.strip_prefix("```"), &mut open) {
            (Some(words), None) => {
                let mut words = words.split([',', ' ']);
                let language = words.next().unwrap_or_default().to_owned();
                let language = if words.any(|word| word == "ignore") { String::new() } else { language };
                let block = Block { path: path.to_owned(), line: number + 1, language, text: String::new() };
                open = Some((indent, block));
            }
            (Some(_), Some(_)) => blocks.extend(open.take().map(|(_, block)| block)),
            (None, Some((indent, block))) => {
                // Code in a list is indented with it.
                block.text += line.get(*indent..).unwrap_or_default();
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    blocks.retain(|block| !block.language.is_empty());
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_a_language_a_line_and_a_text() {
        let document = "a\n```sh\none\n```\n- b\n  ```rust,no_run\n  two\n    three\n  ```\n```\nnone\n```\n```rust,ignore\nx\n```\n";
        let blocks = in_document("a.md", document);
        let found: Vec<(usize, &str, &str)> =
            blocks.iter().map(|block| (block.line, block.language.as_str(), block.text.as_str())).collect();
        assert_eq!(found, [(3, "sh", "one\n"), (7, "rust", "two\n  three\n")]);
        assert_eq!(blocks[0].problem("bad\n"), "a.md:3: bad");
    }
}
