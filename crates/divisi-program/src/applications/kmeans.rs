//! K-means (Lloyd's algorithm) on points of several parties, in integers. Each step assigns every point to
//! the nearest centre (the first one of those equally near), and moves every centre to the mean of its
//! points, rounded down. A centre without points stays. Nobody learns which point belongs to which centre.

use crate::plain::Entries;
use crate::program::{BOUND, ProgramError, Script, ValueKind};
use crate::shape::Shape;

/// Fisher's iris plants, as in scikit-learn (data/README.md).
const IRIS: &str = include_str!("../../data/iris.csv");
/// The number of lengths that were measured of each plant.
pub const FEATURES: usize = 4;
/// How many kinds of plants there are.
const KINDS: usize = 3;
/// How many steps are made: after these no plant changes its group.
const STEPS: usize = 5;

fn shape(sides: &[usize]) -> Result<Shape, ProgramError> {
    Shape::new(sides).ok_or_else(|| "too many points or centres, or none: give other numbers".into())
}

/// The largest coordinate, for this number of points and of coordinates each: the squares of `features`
/// differences are added, and the coordinates of all points.
#[must_use]
pub fn largest(points: usize, features: usize) -> i64 {
    let most = BOUND.unsigned_abs() - 1;
    let square = most / (features as u64).max(1);
    (square.isqrt() / 2).min(most / (points as u64).max(1)).cast_signed()
}

/// K-means with `centres` centres. Party i has `rows[i - 1]` points of `features` coordinates each; the first
/// party chooses the initial centres. Inputs: `start`, then `points1` and so on. All parties learn `centres`,
/// and `sizes`: how many points each centre had in the last step.
///
/// Coordinates have the largest range in which squared distances, and sums of a coordinate, stay below 2^30
/// ([`largest`]).
///
/// # Errors
/// If there are more than 255 parties or none, or if shapes are too large.
pub fn script(rows: &[usize], features: usize, centres: usize, steps: usize) -> Result<Script, ProgramError> {
    let mut program = Script::new();
    let parties = (1..=rows.len()).map(u8::try_from).collect::<Result<Vec<u8>, _>>();
    let parties = parties.map_err(|_| ProgramError::from("points of more than 255 parties"))?;
    let size = largest(rows.iter().sum(), features);
    let range = [-size, size];
    let start = program.input_in("start", 1, ValueKind::Num, shape(&[centres, features])?, range)?;
    let mut blocks = Vec::with_capacity(rows.len());
    for (party, rows) in parties.iter().zip(rows) {
        let whole = shape(&[*rows, features])?;
        let name = format!("points{party}");
        blocks.push((*rows, program.input_in(&name, *party, ValueKind::Num, whole, range)?));
    }
    let numbers: Vec<i64> = (0..centres as i64).collect();
    let numbers = program.constant(shape(&[1, centres])?, &numbers)?;
    let (mut at, mut sizes) = (start, None);
    for step in 0..steps {
        let each = program.reshape(&at, shape(&[1, centres, features])?)?;
        let mut found = None;
        for (rows, points) in &blocks {
            // 1. which centre is the nearest
            let apart = program.reshape(points, shape(&[*rows, 1, features])?)?;
            let difference = program.sub(&apart, &each)?;
            let square = program.mul(&difference, &difference)?;
            let distance = program.sum(&square)?;
            let [_, nearest] = program.min(&distance)?;
            // 2. for each centre a row that has 1 at its points
            let nearest = program.reshape(&nearest, shape(&[*rows, 1])?)?;
            let is_near = program.eq(&nearest, &numbers)?;
            let turned: Vec<usize> =
                (0..centres).flat_map(|k| (0..*rows).map(move |row| row * centres + k)).collect();
            let is_near = program.gather(&is_near, &turned)?;
            let is_near = program.reshape(&is_near, shape(&[centres, *rows])?)?;
            let member = program.num(&is_near)?;
            // 3. the number of points of each centre, and their sums
            let (count, sum) = (program.sum(&member)?, program.matmul(&member, points)?);
            found = Some(match found {
                None => (count, sum),
                Some((counts, sums)) => (program.add(&counts, &count)?, program.add(&sums, &sum)?),
            });
        }
        let (counts, sums) = found.ok_or("points of nobody")?;
        // 4. their means
        let empty = program.eq(&counts, 0)?;
        let divisor = program.select(&empty, 1, &counts)?;
        let divisor = program.reshape(&divisor, shape(&[centres, 1])?)?;
        let empty = program.reshape(&empty, shape(&[centres, 1])?)?;
        let mean = program.div(&sums, &divisor)?;
        // it lies between the coordinates of the centre's points
        program.name(&mean, &format!("mean{}", step + 1));
        program.assume(&mean, range)?;
        at = program.select(&empty, &at, &mean)?;
        sizes = Some(counts);
    }
    program.output("centres", &at, &parties)?;
    if let Some(sizes) = sizes {
        program.output("sizes", &sizes, &parties)?;
    }
    program.check_size()?;
    Ok(program)
}

/// The iris plants: four lengths of each, in millimetres.
///
/// # Errors
/// None: the file is part of the program.
pub fn plants() -> Result<Vec<[i64; FEATURES]>, ProgramError> {
    let plant = |line: &str| {
        let mut lengths = [0; FEATURES];
        for (length, word) in lengths.iter_mut().zip(line.split(',')) {
            *length =
                word.replace('.', "").parse().map_err(|_| format!("{line} is not a row of the iris data"))?;
        }
        Ok(lengths)
    };
    IRIS.lines().skip(1).map(plant).collect()
}

/// [`script`] for the iris plants in three groups.
///
/// # Errors
/// The errors of [`script`].
pub fn iris(rows: &[usize]) -> Result<Script, ProgramError> {
    script(rows, FEATURES, KINDS, STEPS)
}

/// The inputs of [`iris`]. The plants are arranged so that the three kinds alternate, and every party has all
/// kinds. The initial centres are the first party's first three plants.
///
/// # Errors
/// If there are more rows than plants.
pub fn iris_inputs(rows: &[usize]) -> Result<Vec<Entries>, ProgramError> {
    let plants = plants()?;
    // one plant of each kind in turn
    let third = plants.len() / KINDS;
    let mut mixed = (0..plants.len()).map(|i| plants.get(i % KINDS * third + i / KINDS));
    let mut blocks = Vec::with_capacity(rows.len());
    for count in rows {
        let block: Option<Vec<i64>> = mixed
            .by_ref()
            .take(*count)
            .map(|plant| plant.copied())
            .collect::<Option<Vec<_>>>()
            .map(|b| b.concat());
        let block = block.filter(|block| block.len() == count * FEATURES);
        blocks.push(block.ok_or("more rows than there are plants")?);
    }
    let start = blocks.first().and_then(|block| block.get(..KINDS * FEATURES));
    let start = Entries::Num(start.ok_or("no plants to start at")?.to_vec());
    Ok(std::iter::once(start).chain(blocks.into_iter().map(Entries::Num)).collect())
}
