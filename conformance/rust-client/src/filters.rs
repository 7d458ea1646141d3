//! Filters of every operator, literal and shape, with what each finds.

use serde_json::{Value, json};
use tablerock_client::{DateTime, Entity, Error, Filter, TableClient, column, partition_key, row_key, timestamp};

use crate::pages::keys;
use crate::samples::{ODD_KEYS, Sample};

/// A filter, and what a sample must be to be found.
type Case = (Filter, Box<dyn Fn(&Sample) -> bool>);

fn case(filter: Filter, finds: impl Fn(&Sample) -> bool + 'static) -> Case {
    (filter, Box::new(finds))
}

/// Fills the table and prints the filters of a group, each with the keys that the client found by it.
pub(crate) async fn run(table: &TableClient, group: &str) -> Result<Value, Error> {
    let samples = Sample::all();
    for sample in &samples {
        table.insert(sample).await?;
    }
    let cases = match group {
        "operators" => operators(),
        "literals" => literals(&samples[7]),
        "extremes" => extremes(&samples[7]),
        "keys" => odd_keys(),
        "nesting" => nesting(),
        _ => return Err(Error::Invalid(format!("no group of filters is called {group:?}"))),
    };
    let mut printed = Vec::new();
    for (filter, finds) in cases {
        let text = filter.to_string();
        let found = table.query::<Entity>().filter(filter).all().await?;
        let expected = samples.iter().filter(|sample| finds(sample)).count();
        if found.len() != expected || !found.iter().all(|entity| is_among(entity, &samples, &finds)) {
            return Err(Error::Invalid(format!("{text} finds {found:?}")));
        }
        let found: Vec<Value> = found.iter().map(keys).collect();
        printed.push(json!({ "filter": text, "keys": found }));
    }
    Ok(Value::from(printed))
}

fn is_among(entity: &Entity, samples: &[Sample], finds: &dyn Fn(&Sample) -> bool) -> bool {
    let is_it = |sample: &&Sample| (&sample.group, &sample.row) == (&entity.partition_key, &entity.row_key);
    samples.iter().find(is_it).is_some_and(finds)
}

/// Each operator, on both sides of zero.
fn operators() -> Vec<Case> {
    let mut cases = Vec::new();
    for bound in [-2, 0, 5] {
        cases.extend([
            case(Sample::number().eq(bound), move |sample| sample.number == bound),
            case(Sample::number().ne(bound), move |sample| sample.number != bound),
            case(Sample::number().gt(bound), move |sample| sample.number > bound),
            case(Sample::number().ge(bound), move |sample| sample.number >= bound),
            case(Sample::number().lt(bound), move |sample| sample.number < bound),
            case(Sample::number().le(bound), move |sample| sample.number <= bound),
        ]);
    }
    cases
}

/// Each type, equal to the value of one sample and beyond it.
fn literals(one: &Sample) -> Vec<Case> {
    let Sample { text, large, real, second, id, bytes, .. } = one.clone();
    let (text_too, bytes_too) = (text.clone(), bytes.clone());
    vec![
        case(Sample::text().eq(&text), move |sample| sample.text == text),
        case(Sample::text().gt(&text_too), {
            let bound: Vec<u16> = text_too.encode_utf16().collect();
            move |sample| sample.text.encode_utf16().gt(bound.iter().copied())
        }),
        case(Sample::text().ne(""), |_| true),
        case(Sample::large().eq(large), move |sample| sample.large == large),
        case(Sample::large().le(i64::MIN), |sample| sample.large == i64::MIN),
        case(Sample::large().lt(i64::MAX), |_| true),
        case(Sample::real().eq(real), move |sample| sample.real == real),
        case(Sample::real().lt(-0.5), |sample| sample.real < -0.5),
        case(Sample::real().gt(3.0), |sample| sample.real > 3.0),
        case(Sample::truth().eq(true), |sample| sample.truth),
        case(Sample::truth().ne(true), |sample| !sample.truth),
        case(Sample::second().eq(second), move |sample| sample.second == second),
        case(Sample::second().lt(second), move |sample| sample.second < second),
        case(Sample::id().eq(id), move |sample| sample.id == id),
        case(Sample::bytes().eq(&bytes[..]), move |sample| sample.bytes == bytes),
        case(Sample::bytes().ge(&bytes_too[..]), move |sample| sample.bytes >= bytes_too),
        case(Sample::maybe().gt(0), |sample| sample.maybe.is_some()),
        case(timestamp().gt(DateTime::MIN_STORED), |_| true),
        case(column("Number").one_of([1, 3, 100]), |sample| [1, 3].contains(&sample.number)),
    ]
}

/// Times that differ by 100 ns, and numbers with an exponent.
fn extremes(one: &Sample) -> Vec<Case> {
    let tick = one.tick;
    vec![
        case(Sample::tick().eq(tick), move |sample| sample.tick == tick),
        case(Sample::tick().gt(tick), move |sample| sample.tick > tick),
        case(Sample::real().lt(1e300), |_| true),
        case(Sample::real().lt(-2.5e-7), |sample| sample.real < -2.5e-7),
    ]
}

/// Every odd key and text, and ranges of keys.
fn odd_keys() -> Vec<Case> {
    let mut cases = Vec::new();
    for key in ODD_KEYS {
        let group = if ODD_KEYS.iter().position(|other| *other == key) < Some(5) { "low's" } else { "hïgh" };
        cases.push(case(partition_key().eq(group).and(row_key().eq(key)), move |sample| sample.row == key));
        cases.push(case(Sample::text().eq(key), move |sample| sample.text == key));
    }
    cases.extend([
        case(partition_key().starts_with("low'"), |sample| sample.group == "low's"),
        case(row_key().starts_with("😀"), |sample| sample.row.starts_with('😀')),
        case(row_key().in_range("a".."g"), |sample| ("a".."g").contains(&sample.row.as_str())),
        case(row_key().one_of(["''", "plain", "none"]), |sample| ["''", "plain"].contains(&sample.row.as_str())),
    ]);
    cases
}

/// And, or and not, in each other.
fn nesting() -> Vec<Case> {
    let small = || Sample::number().lt(1);
    let even = || Sample::truth().eq(true);
    vec![
        case(small().and(even()), |sample| sample.number < 1 && sample.truth),
        case(small().or(even()), |sample| sample.number < 1 || sample.truth),
        case(!small(), |sample| sample.number >= 1),
        case(!!small(), |sample| sample.number < 1),
        case((!small()).and(!even()), |sample| sample.number >= 1 && !sample.truth),
        case(!small().or(even()), |sample| sample.number >= 1 && !sample.truth),
        case(small().and(even()).or(Sample::number().eq(4)), |sample| {
            sample.number < 1 && sample.truth || sample.number == 4
        }),
        case(small().and(even().or(Sample::number().eq(-2))), |sample| {
            sample.number < 1 && (sample.truth || sample.number == -2)
        }),
        case((!(small().and(!even()))).and(!(row_key().eq("''").or(row_key().eq("o'clock")))), |sample| {
            (sample.number >= 1 || sample.truth) && !["''", "o'clock"].contains(&sample.row.as_str())
        }),
        case(!Sample::maybe().eq(8), |sample| sample.maybe != Some(8)),
        case(Sample::maybe().ne(8), |sample| sample.maybe == Some(9)),
        case(Filter::all([]), |_| true),
        case(Filter::any([]), |_| false),
        case(deep(20), |sample| sample.number == 0),
    ]
}

/// Conditions inside each other, all of which hold for one number only.
fn deep(levels: i32) -> Filter {
    match levels {
        0 => Sample::number().eq(0),
        _ => (!(!deep(levels - 1)).or(Sample::number().eq(levels))).and(Sample::number().le(levels)),
    }
}
