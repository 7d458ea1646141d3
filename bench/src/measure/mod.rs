//! One file for each part of the table of targets: which loads it has, who takes part, and what is required.

mod big;
mod blobs;
mod messages;
mod queries;
mod reads;
mod start;
mod writes;

use std::fs;

use crate::Result;
use crate::contest::rows::Row;
use crate::contest::stage::{MemoryPeak, Stage};
use crate::report::megabytes;
use crate::results::{Measured, in_case};

const LOADED_BYTES_MAX: u64 = 400_000_000;
const BINARY_BYTES_MAX: u64 = 20_000_000;

/// Measures the rows that are wanted.
pub fn all(stage: &mut Stage, rows: &[Row]) -> Result<()> {
    let wants = |row: Row| rows.contains(&row);
    reads::measure(stage, &wants)?;
    writes::measure(stage, &wants)?;
    queries::measure(stage, &wants)?;
    messages::measure(stage, &wants)?;
    blobs::measure(stage, &wants)?;
    start::measure_empty(stage, &wants)?;
    big::measure(stage, &wants)?;
    if wants(Row::Memory) {
        let MemoryPeak { bytes, during } = stage.memory_peak.get();
        let measured = Measured { shown: in_case(&megabytes(bytes), during), is_met: bytes < LOADED_BYTES_MAX };
        let target = format!("under the loads above: under {}", megabytes(LOADED_BYTES_MAX));
        stage.results.judge(Row::Memory, target, Some(measured).filter(|_| bytes > 0));
    }
    if wants(Row::Size) {
        let size = fs::metadata(&stage.programs.tablerock).map(|metadata| metadata.len()).ok();
        stage.results.judge_size(Row::Size, "", BINARY_BYTES_MAX, size);
    }
    stage.results.verdicts.sort_by_key(|verdict| verdict.row);
    Ok(())
}
