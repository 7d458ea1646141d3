//! Wide entities: the responses to a survey of a thousand questions in one logical entity.

mod stage;

use stage::Stage;
use tablerock_client::{Entity, Result};
use tablerock_patterns::WideEntities;

#[tokio::main]
async fn main() -> Result<()> {
    story(&stage::connection_string()).await
}

pub(crate) async fn story(connection_string: &str) -> Result<()> {
    let stage = Stage::new(connection_string)?;
    let table = stage.table("Surveys").await?;
    let surveys = WideEntities::new(table.clone());
    let survey = |questions: usize| {
        (0..questions).fold(Entity::new("Sales", "000123"), |survey, question| {
            survey.with(format!("Q{question}"), question as i64)
        })
    };
    let properties = async || {
        Ok::<_, tablerock_client::Error>(surveys.get_if_exists("Sales", "000123").await?.map(Entity::into_properties))
    };

    let first = surveys.insert(&survey(1000)).await?;
    assert_eq!(table.query::<Entity>().all().await?.len(), 5);
    assert_eq!(properties().await?, Some(survey(1000).into_properties()));

    // A smaller version deletes the parts of the larger one, and long strings are split as well. A write requires the
    // version that was read.
    surveys.replace(&survey(300)).if_match(first.clone()).await?;
    let late = surveys.replace(&survey(1000)).if_match(first).await;
    assert!(late.is_err_and(|error| error.is_precondition_failed()));
    assert_eq!(properties().await?, Some(survey(300).into_properties()));
    let essay = (0..40)
        .fold(Entity::new("Sales", "000123"), |survey, page| survey.with(format!("Page{page}"), "x".repeat(30_000)));
    surveys.put(&essay).any_version().await?;
    assert_eq!(properties().await?, Some(essay.into_properties()));

    let delete = || surveys.delete_by_keys("Sales", "000123").any_version().if_exists();
    assert!(delete().await?);
    assert!(!delete().await?);
    assert!(table.query::<Entity>().first().await?.is_none());
    stage.close().await
}
