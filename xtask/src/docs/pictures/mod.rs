//! The pictures of the README: the architecture, and a chart of `docs/benchmarks.md`. Both are SVG with a background of their own,
//! so that they are readable on light and dark pages.

mod architecture;
mod chart;
pub(super) mod figures;
mod svg;

use std::fs;

use crate::Result;
use crate::workspace::Workspace;

const FOLDER: &str = "docs/images";

/// Writes all pictures.
pub(super) fn write(workspace: &Workspace) -> Result<()> {
    let folder = workspace.root.join(FOLDER);
    fs::create_dir_all(&folder).map_err(|error| format!("{FOLDER}: {error}"))?;
    for (name, picture) in make(workspace)? {
        fs::write(folder.join(name), picture).map_err(|error| format!("{FOLDER}/{name}: {error}"))?;
        println!("docs: wrote {FOLDER}/{name}");
    }
    Ok(())
}

/// The names and contents of the pictures. The same figures make the same bytes.
fn make(workspace: &Workspace) -> Result<[(&'static str, String); 2]> {
    let text = fs::read_to_string(workspace.root.join(figures::DOCUMENT))
        .map_err(|error| format!("{}: {error}", figures::DOCUMENT))?;
    let chart = chart::draw(&figures::of(&text)?);
    Ok([("architecture.svg", architecture::draw()), ("benchmarks.svg", chart)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pictures_in_the_repository_show_the_figures_of_the_document() {
        let workspace = Workspace::find().unwrap();
        for (name, picture) in make(&workspace).unwrap() {
            let stored = fs::read_to_string(workspace.root.join(FOLDER).join(name)).unwrap_or_default();
            assert!(stored == picture, "{FOLDER}/{name} is not up to date: run `cargo xtask docs`");
        }
    }
}
