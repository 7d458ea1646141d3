//! Inputs from the corpus of `request`: as they are, changed a little, or crossed with one another.

use std::fs;
use std::path::Path;

/// Numbers from a seed (SplitMix64).
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below the bound, which is at least one.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        (self.roll() % bound.max(1) as u64) as usize
    }
}

pub(super) struct Corpus {
    inputs: Vec<Vec<u8>>,
}

impl Corpus {
    pub(super) fn read(folder: &Path) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        let entries = fs::read_dir(folder).map_err(failed)?;
        let mut paths =
            entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>().map_err(failed)?;
        paths.sort();
        let inputs = paths.iter().map(fs::read).collect::<Result<Vec<_>, _>>().map_err(failed)?;
        if inputs.is_empty() { Err(format!("{} has no inputs", folder.display())) } else { Ok(Self { inputs }) }
    }

    pub(super) fn input(&self, dice: &mut Dice) -> Vec<u8> {
        let mut input = self.inputs[dice.below(self.inputs.len())].clone();
        for _ in 0..dice.below(4) {
            let other = &self.inputs[dice.below(self.inputs.len())];
            change(&mut input, other, dice);
        }
        input
    }
}

fn change(input: &mut Vec<u8>, other: &[u8], dice: &mut Dice) {
    let at = dice.below(input.len() + 1);
    let length = dice.below(32);
    let from = dice.below(other.len());
    let piece = &other[from..(from + length).min(other.len())];
    match dice.below(5) {
        0 => drop(input.splice(at..at, piece.iter().copied())),
        1 => drop(input.splice(at..(at + length).min(input.len()), piece.iter().copied())),
        2 => drop(input.drain(at..(at + length).min(input.len()))),
        3 if at < input.len() => input[at] = dice.below(256) as u8,
        _ => {
            // A line of another input, which is a header more often than not.
            let lines: Vec<&[u8]> = other.split_inclusive(|&byte| byte == b'\n').collect();
            let line = lines.get(dice.below(lines.len())).copied().unwrap_or_default();
            let ends = input.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(place, _)| place + 1);
            let ends: Vec<usize> = ends.collect();
            let at = ends.get(dice.below(ends.len())).copied().unwrap_or(0);
            drop(input.splice(at..at, line.iter().copied()));
        }
    }
}
