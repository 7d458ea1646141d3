//! The elements that the pictures consist of. Colours are classes, which have another value on a dark page.

use std::fmt::Write as _;

/// A picture in the making.
#[derive(Debug)]
pub(super) struct Picture {
    body: String,
    width: u32,
    height: u32,
}

const STYLE: &str = "\
.page{fill:#ffffff;stroke:#d0d7de}.text{fill:#1f2328}.soft{fill:#59636e}\
.ours{fill:#0969da}.theirs{fill:#9a6700}.box{fill:#f6f8fa;stroke:#8c959f}.core{fill:#ddf4ff;stroke:#0969da}\
.line{stroke:#8c959f}\
text{font-family:-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;font-size:14px}.small{font-size:12px}.bold{font-weight:600}\
@media (prefers-color-scheme:dark){\
.page{fill:#0d1117;stroke:#3d444d}.text{fill:#f0f6fc}.soft{fill:#9198a1}\
.ours{fill:#4493f8}.theirs{fill:#d29922}.box{fill:#151b23;stroke:#656c76}.core{fill:#0c2d6b;stroke:#4493f8}\
.line{stroke:#656c76}}";

impl Picture {
    pub(super) fn new(width: u32, height: u32) -> Self {
        let mut picture = Self { body: String::new(), width, height };
        picture.rectangle(1, 1, width - 2, height - 2, "page");
        picture
    }

    pub(super) fn rectangle(&mut self, x: u32, y: u32, width: u32, height: u32, class: &str) {
        self.push(&format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"4\" class=\"{class}\"/>"
        ));
    }

    /// Text whose anchor is `start`, `middle` or `end`.
    pub(super) fn text(&mut self, x: u32, y: u32, anchor: &str, class: &str, text: &str) {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        self.push(&format!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" class=\"{class}\">{text}</text>"));
    }

    pub(super) fn line(&mut self, from: (u32, u32), to: (u32, u32)) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.push(&format!("<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" class=\"line\"/>"));
    }

    fn push(&mut self, element: &str) {
        let _ = writeln!(self.body, "{element}");
    }

    /// The file. The title is what a reader of the screen reads.
    pub(super) fn finish(self, title: &str) -> String {
        let Self { body, width, height } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             role=\"img\">\n<title>{title}</title>\n<style>{STYLE}</style>\n{body}</svg>\n"
        )
    }
}
