//! Block lists, as Put Block List reads and Get Block List writes them.
//!
//! A list may have 50,000 entries whose order across the three kinds is the order of the blob, and some megabytes: it is
//! read in one pass, without a tree.

use quick_xml::Reader;
use quick_xml::events::Event;

use super::writing::{DECLARATION, push_element, push_text};
use crate::blob::BlockId;
use crate::{ErrorCode, ServiceError};

/// Blocks of one blob.
pub const BLOCKS_MAX: usize = 50_000;
/// The body of a Put Block List: each block with the longest id, the longest tag and some white space.
pub const BLOCK_LIST_BYTES_MAX: usize = 8 << 20;

/// Where a block is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockSource {
    /// A block of the committed list.
    Committed,
    /// A block that was put and not committed.
    Uncommitted,
    /// Among the uncommitted first, then among the committed.
    Latest,
}

/// The blocks of a blob, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockListRequest {
    /// The blocks, in the order of the content.
    pub blocks: Vec<(BlockSource, BlockId)>,
}

impl BlockListRequest {
    /// The body of a Put Block List.
    pub fn render(&self) -> String {
        let mut out = DECLARATION.to_owned();
        push_element(&mut out, "BlockList", |out| {
            for (source, id) in &self.blocks {
                let name = match source {
                    BlockSource::Committed => "Committed",
                    BlockSource::Uncommitted => "Uncommitted",
                    BlockSource::Latest => "Latest",
                };
                push_text(out, name, &id.to_base64());
            }
        });
        out
    }

    /// Parses the body of Put Block List.
    pub fn parse(document: &[u8]) -> Result<Self, ServiceError> {
        let text = std::str::from_utf8(document).map_err(|_| ErrorCode::InvalidXmlDocument)?;
        let mut reader = Reader::from_str(text.strip_prefix('\u{feff}').unwrap_or(text));
        let mut list = Reading::default();
        while list.add(reader.read_event().map_err(|_| ErrorCode::InvalidXmlDocument)?)? {}
        Ok(Self { blocks: list.blocks })
    }
}

/// The list while it is read.
#[derive(Default)]
struct Reading {
    blocks: Vec<(BlockSource, BlockId)>,
    position: XmlPosition,
    id: String,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum XmlPosition {
    #[default]
    BeforeList,
    InList,
    InBlock(BlockSource),
    AfterList,
}

impl Reading {
    /// Takes the next piece of the document; `false` when it was the end.
    fn add(&mut self, event: Event<'_>) -> Result<bool, ServiceError> {
        let invalid = || ServiceError::new(ErrorCode::InvalidXmlDocument);
        match event {
            Event::Start(start) => self.begin(start.local_name().into_inner())?,
            Event::Empty(start) => {
                self.begin(start.local_name().into_inner())?;
                self.end()?;
            }
            Event::End(_) => self.end()?,
            Event::Text(text) => self.text(&text)?,
            Event::CData(text) => self.text(&text)?,
            Event::Decl(_) | Event::PI(_) | Event::Comment(_) => {}
            // Base64 needs no references, and a document type is never accepted.
            Event::GeneralRef(_) | Event::DocType(_) => return Err(invalid()),
            Event::Eof if self.position == XmlPosition::AfterList => return Ok(false),
            Event::Eof => return Err(invalid()),
        }
        Ok(true)
    }

    fn begin(&mut self, name: &str) -> Result<(), ServiceError> {
        self.position = match (self.position, name) {
            (XmlPosition::BeforeList, "BlockList") => XmlPosition::InList,
            (XmlPosition::InList, "Committed") => XmlPosition::InBlock(BlockSource::Committed),
            (XmlPosition::InList, "Uncommitted") => XmlPosition::InBlock(BlockSource::Uncommitted),
            (XmlPosition::InList, "Latest") => XmlPosition::InBlock(BlockSource::Latest),
            _ => return Err(ErrorCode::InvalidXmlDocument.into()),
        };
        Ok(())
    }

    fn end(&mut self) -> Result<(), ServiceError> {
        self.position = match self.position {
            XmlPosition::InBlock(source) => {
                if self.blocks.len() == BLOCKS_MAX {
                    return Err(ErrorCode::BlockListTooLong.into());
                }
                let id = BlockId::parse(&self.id).map_err(|_| ErrorCode::InvalidBlockList)?;
                self.blocks.push((source, id));
                self.id.clear();
                XmlPosition::InList
            }
            XmlPosition::InList => XmlPosition::AfterList,
            XmlPosition::BeforeList | XmlPosition::AfterList => return Err(ErrorCode::InvalidXmlDocument.into()),
        };
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), ServiceError> {
        match self.position {
            XmlPosition::InBlock(_) => self.id.push_str(text),
            _ if text.trim_ascii().is_empty() => {}
            _ => return Err(ErrorCode::InvalidXmlDocument.into()),
        }
        Ok(())
    }
}

/// The document of a Get Block List, without a byte order mark. A list that was not asked for is left out.
pub fn render_block_list(committed: Option<&[(BlockId, u64)]>, uncommitted: Option<&[(BlockId, u64)]>) -> String {
    let mut out = DECLARATION.to_owned();
    push_element(&mut out, "BlockList", |out| {
        for (name, blocks) in [("CommittedBlocks", committed), ("UncommittedBlocks", uncommitted)] {
            let Some(blocks) = blocks else { continue };
            push_element(out, name, |out| {
                for (id, length) in blocks {
                    push_element(out, "Block", |out| {
                        push_text(out, "Name", &id.to_base64());
                        push_text(out, "Size", &length.to_string());
                    });
                }
            });
        }
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(document: &str) -> Option<ErrorCode> {
        BlockListRequest::parse(document.as_bytes()).err().map(|error| error.code)
    }

    #[test]
    fn kinds_interleave_and_ids_repeat() {
        let document = "\u{feff}<?xml version=\"1.0\"?>\n<BlockList>\n <Latest>MDAx</Latest><Committed>MDAy</Committed>\
                        <Uncommitted> MDAx </Uncommitted></BlockList>";
        let list = BlockListRequest::parse(document.as_bytes()).unwrap();
        let shown: Vec<_> = list.blocks.iter().map(|(source, id)| (*source, id.to_base64())).collect();
        let wanted =
            [(BlockSource::Latest, "MDAx"), (BlockSource::Committed, "MDAy"), (BlockSource::Uncommitted, "MDAx")];
        assert_eq!(shown, wanted.map(|(source, id)| (source, id.to_owned())));
        assert_eq!(BlockListRequest::parse(list.render().as_bytes()).unwrap(), list);
        assert_eq!(code("<BlockList />"), None);
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for document in [
            "",
            "<BlockList>",
            "<List/>",
            "<BlockList><Other>MDAx</Other></BlockList>",
            "<BlockList>x</BlockList>",
            "<BlockList><Latest><Latest/></Latest></BlockList>",
            "<BlockList/><BlockList/>",
            "<!DOCTYPE a><BlockList/>",
            "<BlockList><Latest>&#65;</Latest></BlockList>",
        ] {
            assert_eq!(code(document), Some(ErrorCode::InvalidXmlDocument), "{document}");
        }
        assert_eq!(code("<BlockList><Latest>?</Latest></BlockList>"), Some(ErrorCode::InvalidBlockList));
        assert_eq!(code("<BlockList><Latest/></BlockList>"), Some(ErrorCode::InvalidBlockList));
        let long = |count: usize| format!("<BlockList>{}</BlockList>", "<Latest>MDAx</Latest>".repeat(count));
        assert_eq!(code(&long(BLOCKS_MAX)), None);
        assert_eq!(code(&long(BLOCKS_MAX + 1)), Some(ErrorCode::BlockListTooLong));
    }

    #[test]
    fn lists_are_written_as_the_service_does() {
        let committed = [(BlockId::parse("MDAx").unwrap(), 4_194_304)];
        let document = render_block_list(Some(&committed), Some(&[]));
        let wanted = "<BlockList><CommittedBlocks><Block><Name>MDAx</Name><Size>4194304</Size></Block></CommittedBlocks>\
                      <UncommittedBlocks /></BlockList>";
        assert_eq!(document.strip_prefix(DECLARATION), Some(wanted));
    }
}
