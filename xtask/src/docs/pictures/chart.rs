//! The chart: two bars for each work, on a logarithmic axis, with their numbers.

use super::figures::{self, Figure};
use super::svg::Picture;

const WIDTH: u32 = 820;
/// Where bars begin, below the labels' end.
const LEFT: u32 = 220;
/// The length of a bar for each power of ten.
const DECADE: f64 = 100.0;
/// The axis ends at this power of ten.
const DECADES: u32 = 5;
const TOP: u32 = 64;
const ROW: u32 = 42;
const BAR: u32 = 15;

pub(super) fn draw(figures: &[Figure]) -> String {
    let rows = u32::try_from(figures.len()).expect("a chart has few rows");
    let bottom = TOP + rows * ROW;
    let mut picture = Picture::new(WIDTH, bottom + 44);
    picture.text(20, 28, "start", "text bold", "Requests or entities per second, logarithmic");
    legend(&mut picture);
    for (power, number) in (0..=DECADES).zip(["1", "10", "100", "1,000", "10,000", "100,000"]) {
        let x = LEFT + length(10_f64.powi(i32::try_from(power).expect("few powers")));
        picture.line((x, TOP - 6), (x, bottom));
        picture.text(x, bottom + 18, "middle", "soft small", number);
    }
    for (figure, index) in figures.iter().zip(0..) {
        let y = TOP + index * ROW;
        picture.text(LEFT - 10, y + 20, "end", "text", figure.label);
        bar(&mut picture, y + 2, figure.tablerock, "ours");
        bar(&mut picture, y + 2 + BAR + 2, figure.azurite, "theirs");
    }
    let note = "Two slow cores. Tablerock syncs every write; Azurite in its default settings syncs none. From docs/benchmarks.md.";
    picture.text(20, bottom + 36, "start", "soft small", note);
    picture.finish("Tablerock and Azurite, requests per second by work")
}

fn legend(picture: &mut Picture) {
    for (x, class, name) in [(560, "ours", "Tablerock"), (680, "theirs", "Azurite")] {
        picture.rectangle(x, 17, 14, 14, class);
        picture.text(x + 20, 29, "start", "text", name);
    }
}

fn bar(picture: &mut Picture, y: u32, rate: f64, class: &str) {
    let length = length(rate);
    picture.rectangle(LEFT, y, length, BAR, class);
    picture.text(LEFT + length + 6, y + 12, "start", "text small", &figures::number(rate));
}

fn length(rate: f64) -> u32 {
    // A rate has at most six digits, so the length has at most three.
    (rate.max(1.0).log10() * DECADE).round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_times_as_much_is_one_decade_longer() {
        assert_eq!(length(1_000.0) - length(100.0), 100);
        assert_eq!(length(0.5), 0);
    }
}
