//! Two passes over the runs: a machine that others share changes its speed from minute to minute, and
//! repetitions that follow each other do not see it. So each command with repetitions runs twice, the second
//! time after all others, with half of the repetitions each.

use crate::bench::median;
use serde_json::Value;

/// The command of each pass over this one, with how many repetitions it has; `None` if it does not repeat.
pub fn half(command: &str) -> Option<String> {
    let mut words: Vec<&str> = command.split(' ').collect();
    let at = words.iter().position(|word| *word == "--reps")? + 1;
    let repetitions: u64 = words.get(at)?.parse().ok()?;
    let half = repetitions.div_ceil(2).to_string();
    *words.get_mut(at)? = &half;
    Some(words.join(" "))
}

/// The report of both passes: the repetitions of both, and of what they measure the median. What does not
/// depend on time is that of the first.
///
/// # Errors
/// If the reports are not of the same figures.
pub fn join(mut first: Value, second: &Value) -> Result<Value, String> {
    let series = |of: &Value| of.get("repetitions").and_then(Value::as_object).cloned();
    let (Some(mut all), Some(more)) = (series(&first), series(second)) else {
        return Err("a report has no repetitions".into());
    };
    if !all.keys().eq(more.keys()) {
        return Err("its second pass measures other figures".into());
    }
    for (of, more) in all.values_mut().zip(more.values()) {
        let Some((of, more)) = of.as_array_mut().zip(more.as_array()) else { continue };
        of.extend_from_slice(more);
    }
    let middle = |name: &str| {
        // a rate of no time at all is no number
        let figures: Vec<f64> =
            all.get(name)?.as_array()?.iter().map(|of| of.as_f64().unwrap_or(f64::INFINITY)).collect();
        Some(Value::from(median(figures)))
    };
    let top = first.as_object_mut().into_iter().flatten();
    top.for_each(|(name, value)| *value = middle(name).unwrap_or_else(|| value.take()));
    let phases = first.get_mut("phases").and_then(Value::as_array_mut).into_iter().flatten();
    for phase in phases.filter_map(Value::as_object_mut) {
        let name = phase.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        for (of, value) in phase {
            *value = middle(&format!("{name}_{of}")).unwrap_or_else(|| value.take());
        }
    }
    let repetitions: u64 = [&first, second].iter().filter_map(|of| of.get("reps")?.as_u64()).sum();
    first["reps"] = repetitions.into();
    first["repetitions"] = all.into();
    Ok(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn half_of_the_repetitions_are_in_each_pass() {
        assert_eq!(half("bench aes --reps 5 --blocks 1").unwrap(), "bench aes --reps 3 --blocks 1");
        assert_eq!(half("bench aes --reps 1").unwrap(), "bench aes --reps 1");
        assert_eq!([half("circuit info aes128"), half("bench aes --reps")], [None, None]);
    }

    #[test]
    fn figures_of_both_passes_are_one() {
        let report = |rates: [f64; 2], seconds: [Option<f64>; 2], bits| {
            json!({
                "count": 4, "reps": 2, "rate": rates[0],
                "phases": [{ "name": "online", "seconds": seconds[0], "bits": bits }],
                "repetitions": { "rate": rates, "online_seconds": seconds },
            })
        };
        let first = report([8.0, 6.0], [Some(1.0), Some(3.0)], 12);
        let second = report([1.0, 7.0], [Some(4.0), None], 13);
        let joined = join(first.clone(), &second).unwrap();
        assert_eq!(joined["repetitions"]["rate"], json!([8.0, 6.0, 1.0, 7.0]));
        assert_eq!([&joined["rate"], &joined["reps"], &joined["count"]], [&json!(6.5), &json!(4), &json!(4)]);
        assert_eq!(joined["phases"], json!([{ "name": "online", "seconds": 3.5, "bits": 12 }]));
        let mut other = second.clone();
        other["repetitions"]["more"] = json!([1]);
        assert!(join(first.clone(), &other).is_err() && join(first, &json!({})).is_err());
    }
}
