//! The recipes of `docs/recipes.md` that run the image: their command, their variables and their health check.

use crate::Result;
use crate::workspace::Workspace;

const DOCUMENT: &str = "docs/recipes.md";
const IMAGE: &str = "image: tablerock:latest";

/// The settings of a recipe.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Recipe {
    /// The heading above it.
    pub(super) name: String,
    /// Empty for the command of the image.
    pub(super) command: String,
    pub(super) variables: Vec<(String, String)>,
    /// A shell command.
    pub(super) health: Option<String>,
}

/// Reads the recipes of the document.
pub(super) fn read(workspace: &Workspace) -> Result<Vec<Recipe>> {
    let path = workspace.root.join(DOCUMENT);
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{DOCUMENT}: {error}"))?;
    let recipes = parse(&text);
    if recipes.is_empty() { Err(format!("{DOCUMENT} has no block with `{IMAGE}`")) } else { Ok(recipes) }
}

fn parse(document: &str) -> Vec<Recipe> {
    let mut recipes: Vec<Recipe> = Vec::new();
    let mut heading = "";
    // The recipe of a block begins with the line of its image.
    let mut is_open = false;
    for line in document.lines() {
        let line = line.trim();
        heading = line.strip_prefix("## ").unwrap_or(heading);
        if line.starts_with("```") {
            is_open = false;
        } else if line == IMAGE {
            recipes.push(Recipe { name: heading.to_owned(), ..Recipe::default() });
            is_open = true;
        } else if let Some(recipe) = recipes.last_mut().filter(|_| is_open) {
            // A second service of the same block is the application.
            if line.starts_with("image: ") { is_open = false } else { recipe.read_line(line) }
        }
    }
    recipes
}

impl Recipe {
    fn read_line(&mut self, line: &str) {
        let Some((key, value)) = line.split_once(": ") else { return };
        match key {
            "command" => self.command = value.to_owned(),
            "test" => {
                let words: Vec<String> = serde_json::from_str(value).unwrap_or_default();
                self.health = words.get(1..).map(|words| words.join(" "));
            }
            "options" => self.health = value.split('"').nth(1).map(str::to_owned),
            key if key.starts_with("TABLEROCK_") || key.starts_with("AZURITE_") => {
                self.variables.push((key.to_owned(), value.to_owned()));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipe_is_read_up_to_the_next_service() {
        let document = "## One\n```yaml\nservices:\n  a:\n    image: tablerock:latest\n    command: azurite -s\n    environment:\n\
            \x20     AZURITE_ACCOUNTS: a:b\n    healthcheck:\n      test: [\"CMD\", \"nc\", \"-z\"]\n  b:\n    image: other:1\n\
            \x20   command: other\n```\n## Two\n```yaml\nimage: tablerock:latest\noptions: --health-cmd \"tablerock health\"\n```\n";
        let one = Recipe {
            name: "One".to_owned(),
            command: "azurite -s".to_owned(),
            variables: vec![("AZURITE_ACCOUNTS".to_owned(), "a:b".to_owned())],
            health: Some("nc -z".to_owned()),
        };
        let two = Recipe { name: "Two".to_owned(), health: Some("tablerock health".to_owned()), ..Recipe::default() };
        assert_eq!(parse(document), [one, two]);
    }

    #[test]
    fn the_document_has_recipes() {
        let recipes = read(&Workspace::find().unwrap()).unwrap();
        assert!(
            recipes.len() >= 5 && recipes.iter().filter(|recipe| recipe.health.is_some()).count() >= 3,
            "{recipes:?}"
        );
    }
}
