//! Recordings: which there are, and how one is made.

use std::pin::Pin;
use std::time::Duration;

use fastrand::Rng;

use super::coverage::{self, Deed};
use super::cuts::Cut;
use super::scene::{Knowledge, Scene};
use super::scripts::{self, Stage};
use crate::blobs::BlobHabits;
use crate::client::ClockOffset;
use crate::company::{Company, Staffing};
use crate::disk::Disk;
use crate::layer::{Layer, Setting};
use crate::run::{Place, Run};
use crate::server::Server;
use crate::small_buffers;
use crate::workload::Habits;

/// Long enough for the sweeper and the mergers to come to rest after a start.
pub(super) const BACKGROUND_TIME: Duration = Duration::from_millis(500);

type Playing<'r> = Pin<Box<dyn Future<Output = Result<Company, String>> + 'r>>;

/// Something to record.
pub(super) struct Play {
    name: &'static str,
    script: for<'r> fn(&'r Stage<'r>, Company, Rng) -> Playing<'r>,
    has_small_buffers: bool,
    /// What it is there to show.
    deeds: &'static [Deed],
}

pub(super) const BIRTH: Play = Play {
    name: "birth",
    script: |stage, company, rng| Box::pin(scripts::birth(stage, company, rng)),
    has_small_buffers: false,
    deeds: &[Deed::DirectoryMade],
};

const GROWTH: Play = Play {
    name: "growth",
    script: |stage, company, rng| Box::pin(scripts::growth(stage, company, rng)),
    has_small_buffers: true,
    deeds: &[Deed::TableWritten, Deed::TableRemoved],
};

const ROTATION: Play = Play {
    name: "rotation",
    script: |stage, company, rng| Box::pin(scripts::rotation(stage, company, rng)),
    has_small_buffers: true,
    deeds: &[Deed::JournalBegun, Deed::JournalRemoved],
};

pub(super) const LOAD: Play = Play {
    name: "load",
    script: |stage, company, rng| Box::pin(scripts::load(stage, company, rng)),
    has_small_buffers: true,
    deeds: &[Deed::TableWritten],
};

const KILLED_LOAD: Play = Play {
    name: "killed-load",
    script: |stage, company, rng| Box::pin(scripts::killed_load(stage, company, rng)),
    has_small_buffers: true,
    deeds: &[Deed::TableWritten],
};

/// Recorded one request after the other, so that each sync belongs to one.
pub(super) const SCRIPTED: [Play; 3] = [BIRTH, GROWTH, ROTATION];

/// Recorded with many clients at once.
pub(super) const LOADS: [Play; 2] = [LOAD, KILLED_LOAD];

/// Few enough that what they leave can be read in whole after each cut.
fn staffing() -> Staffing {
    let habits = Habits { value_bytes: 2_000, large_value_bytes: 30_000, ..Habits::default() };
    let blob_habits = BlobHabits { bytes_max: 24_000, large_bytes_max: 700 << 10, large_every: 24 };
    Staffing { tables: 6, messages: 3, blobs: 2, habits, blob_habits }
}

/// Plays on a disk that does as it should, and takes what was recorded.
pub(super) async fn record(run: &Run, play: &Play) -> Result<Scene, String> {
    record_on(run, play, &[]).await
}

/// The same, on a disk with these settings.
pub(super) async fn record_on(run: &Run, play: &Play, settings: &[(Setting, i64)]) -> Result<Scene, String> {
    let name = play.name;
    let mut rng = run.rng(name);
    let place = Place::make_in_memory(run, name)?;
    if play.has_small_buffers {
        small_buffers::prepare(&place.location).await?;
    }
    let base = place.tree()?;
    let layer = Layer::new(run.shim()?, &place.location)?;
    settings.iter().try_for_each(|(setting, value)| layer.set(*setting, *value))?;
    let company = Company::new(&staffing(), &mut rng);
    let (clock, log) = (ClockOffset::default(), layer.log_length());
    let stage = Stage { run, place: &place, layer: &layer, clock, log };
    let company = (play.script)(&stage, company, rng).await.map_err(|why| format!("{name}: {why}"))?;
    let histories = company.into_histories();
    let scene = Scene::new(name, base, Knowledge::Histories(histories), place, layer)?;
    coverage::check(&scene.record, play.deeds).map_err(|why| format!("{name}: {why}"))?;
    Ok(scene)
}

/// A start after a cut, recorded in its turn.
pub(super) async fn recovery(run: &Run, scene: &Scene, number: usize) -> Result<Scene, String> {
    let name = format!("{}-recovery{number}", scene.name);
    let mut rng = run.rng(&name);
    let lines = rng.usize(scene.record.lines.len() / 4..scene.record.lines.len());
    let mut disk = Disk::new(&scene.base);
    scene.record.lines[..lines].iter().try_for_each(|line| disk.apply(line))?;
    let Cut { loss, .. } = Cut::at_random(scene, 1, run)[0];
    let base = disk.after(loss, &mut rng);

    let place = Place::restore(run, &name, &base)?;
    let layer = Layer::new(run.shim()?, &place.location)?;
    let mut before = scene.books_at(scene.record.lines[lines - 1].end)?;
    before.messages = before.messages.before_record();
    let mut after = before.clone();
    let server = Server::start(&run.program, &place.location, Some(&layer)).await?;
    let log = layer.log_length();
    let (_, violations) = after.settle(&mut server.client(&ClockOffset::default()), Some(&log)).await?;
    let seen_at = log();
    place.judge(&name, violations)?;
    tokio::time::sleep(BACKGROUND_TIME).await;
    server.stop().await?;
    Scene::new(&name, base, Knowledge::Settled { before, seen_at, after }, place, layer)
}
