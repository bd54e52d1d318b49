//! Recognition of a handwritten digit by a neural network with exactly the 666,600 products that the paper
//! counts for MNIST.
//!
//! An image has 28x28 points of value 0 to 16. The layers: a 5x5 convolution to 16 channels (230,400
//! products), ReLU, the maximum of 2x2; another 5x5 convolution to 16 channels (409,600), ReLU, the maximum
//! of 2x2; 256 to 100 (25,600) with ReLU; 100 to 10 (1,000). Weights are integers of 8 bits. One party has
//! the image and another one the network, and both stay secret. The owner of the image learns ten numbers;
//! the position of the largest is the digit.
//!
//! Sums are converted to bits when they are compared with 0. There they are also divided by a power of two
//! and rounded down, at no cost. The results have few bits, so maximum and B2A are cheap. The powers are
//! public and depend on the network only ([`Network::shifts`]).

use crate::plain::Entries;
use crate::program::{BOUND, LARGEST, ProgramError, Script, Value, ValueKind};
use crate::shape::Shape;
use crate::valid::Draw;

/// The side of an image in points.
pub const SIDE: usize = 28;
/// The largest value of a point.
pub const BRIGHTEST: i64 = 16;
/// The side of a digit in scikit-learn's data, before it is enlarged.
const SMALL: usize = 8;
/// The side of a convolution's window.
const WINDOW: usize = 5;
const CHANNELS: usize = 16;
/// For each layer: the number of products in a sum, and the number of sums.
pub const LAYERS: [[usize; 2]; 4] =
    [[WINDOW * WINDOW, CHANNELS], [WINDOW * WINDOW * CHANNELS, CHANNELS], [256, 100], [100, 10]];
/// The number of bits of each layer's results, but for the last layer.
pub const WIDTHS: [usize; 3] = [8, 12, 12];
/// The number of bits by which sums of the network in the repository are shifted down.
const SHIFTS: [u32; 3] = [6, 9, 12];

/// The ranges of the inputs. Whether sums are small enough depends on the whole network: see [`check`].
const POINTS: [i64; 2] = [0, BRIGHTEST];
const WEIGHT: [i64; 2] = [-128, 127];
const BIAS: [i64; 2] = [-(1 << 29), 1 << 29];

/// The weights that data/digits.py made, and the test digits that it did not train with (data/README.md).
const WEIGHTS: &[u8] = include_bytes!("../../data/digits.weights");
const HELD_OUT: &[u8] = include_bytes!("../../data/digits.held-out");

/// A layer: a matrix of weights, with a row for each input and a column for each output, and a bias for each
/// output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// The weights, of 8 bits, row by row.
    pub weights: Vec<i64>,
    /// The biases, of 32 bits.
    pub biases: Vec<i64>,
}

/// A network of four layers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    layers: Vec<Layer>,
    shifts: [u32; 3],
}

impl Network {
    /// Reads a network from the bytes that data/digits.py writes: for each layer its weights, one byte each,
    /// then its biases, four bytes each in little-endian order.
    ///
    /// # Errors
    /// If the length is wrong, or if some image could lead to a wrong sum.
    pub fn read(bytes: &[u8]) -> Result<Network, ProgramError> {
        let (mut rest, mut layers) = (bytes, Vec::with_capacity(LAYERS.len()));
        for [into, out] in LAYERS {
            let short = || ProgramError::from("the file is too short for a network");
            let (weights, after) = rest.split_at_checked(into * out).ok_or_else(short)?;
            let (biases, after) = after.split_at_checked(4 * out).ok_or_else(short)?;
            rest = after;
            let bias =
                |bytes: &[u8]| bytes.try_into().map_or(0, |bytes| i64::from(i32::from_le_bytes(bytes)));
            layers.push(Layer {
                weights: weights.iter().map(|byte| i64::from(byte.cast_signed())).collect(),
                biases: biases.chunks_exact(4).map(bias).collect(),
            });
        }
        if !rest.is_empty() {
            return Err("the file is too long for a network".into());
        }
        let shifts = bounded(&layers)?;
        Ok(Network { layers, shifts })
    }

    /// The network in the repository.
    ///
    /// # Errors
    /// None: the weights are part of the program.
    pub fn trained() -> Result<Network, ProgramError> {
        Network::read(WEIGHTS)
    }

    /// Its layers.
    #[must_use]
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The numbers of bits by which the sums of each layer but the last are shifted down, so that the largest
    /// sum that any image can give has at most [`WIDTHS`] bits.
    #[must_use]
    pub fn shifts(&self) -> [u32; 3] {
        self.shifts
    }

    fn entries(&self) -> Vec<Entries> {
        self.layers
            .iter()
            .flat_map(|layer| [layer.weights.clone(), layer.biases.clone()].map(Entries::Num))
            .collect()
    }
}

/// The numbers of bits by which sums have to be shifted down.
///
/// # Errors
/// If some image gives a sum of 2^30 or more, for which comparisons are wrong, or in the last layer p/2 or
/// more.
fn bounded(layers: &[Layer]) -> Result<[u32; 3], ProgramError> {
    let mut shifts = [0; 3];
    let mut largest = BRIGHTEST;
    for (i, (layer, [_, out])) in layers.iter().zip(LAYERS).enumerate() {
        // inputs are between 0 and `largest`, so a sum is between those of the negative and of the positive
        // weights
        let (mut most, mut size) = (0, 0);
        for (column, bias) in layer.biases.iter().enumerate() {
            let of = |sign: i64| {
                let weights = layer.weights.iter().skip(column).step_by(out);
                weights.map(|weight| (sign * weight).max(0)).sum::<i64>() * largest + (sign * bias).max(0)
            };
            most = most.max(of(1));
            size = size.max(of(1)).max(of(-1));
        }
        let limit = if i < shifts.len() { BOUND } else { LARGEST };
        if size >= limit {
            return Err(format!("a sum of layer {} can reach {size}, beyond {limit}", i + 1));
        }
        if let (Some(shift), Some(width)) = (shifts.get_mut(i), WIDTHS.get(i)) {
            *shift = (i64::BITS - most.leading_zeros()).saturating_sub(*width as u32);
            largest = (1 << width) - 1;
        }
    }
    Ok(shifts)
}

/// Check a network that a party gives as inputs (the image first, then weights and biases of each layer):
/// with the public shifts of the program no image may make a sum too large. Nothing is checked for the party
/// that has the image.
///
/// # Errors
/// If some image could lead to a wrong sum.
pub(super) fn check(inputs: &[Option<Entries>]) -> Result<(), ProgramError> {
    let own: Option<Vec<&Entries>> = inputs.iter().skip(1).map(Option::as_ref).collect();
    let Some(own) = own else { return Ok(()) };
    let of = |pair: &[&Entries]| match pair {
        [weights, biases] => Layer { weights: weights.num().to_vec(), biases: biases.num().to_vec() },
        _ => Layer { weights: Vec::new(), biases: Vec::new() },
    };
    let layers: Vec<Layer> = own.chunks(2).map(of).collect();
    let shifts = bounded(&layers)?;
    match shifts.iter().zip(SHIFTS).position(|(need, has)| *need > has) {
        Some(layer) => Err(format!(
            "sums of layer {} can have more bits than the program keeps: give a network with smaller weights",
            layer + 1
        )),
        None => Ok(()),
    }
}

fn shape(sides: &[usize]) -> Result<Shape, ProgramError> {
    Shape::new(sides).ok_or_else(|| "a shape that is too large".into())
}

/// A program for the network in the repository. `owner` has the network (inputs `weights1`, `biases1` and so
/// on); `reader` has the image (input `image`) and learns `logits`.
///
/// # Errors
/// If a party is 0.
pub fn script(owner: u8, reader: u8) -> Result<Script, ProgramError> {
    with_shifts(owner, reader, SHIFTS)
}

/// The same for a network with other shifts ([`Network::shifts`]).
///
/// # Errors
/// If a party is 0, or a shift is more than 30 bits.
pub fn with_shifts(owner: u8, reader: u8, shifts: [u32; 3]) -> Result<Script, ProgramError> {
    let mut program = Script::new();
    let image = program.input_in("image", reader, ValueKind::Num, shape(&[SIDE * SIDE])?, POINTS)?;
    let mut layers = Vec::with_capacity(LAYERS.len());
    for (i, [into, out]) in LAYERS.into_iter().enumerate() {
        let mut input = |name: &str, sides: [usize; 2], range| {
            program.input_in(&format!("{name}{}", i + 1), owner, ValueKind::Num, shape(&sides)?, range)
        };
        let (weights, biases) = (input("weights", [into, out], WEIGHT)?, input("biases", [1, out], BIAS)?);
        layers.push([weights, biases]);
    }
    let [first, second, third, last] = layers.try_into().map_err(|_| ProgramError::from("four layers"))?;
    let (x, side) = convolution(&mut program, &image, SIDE, 1, &first)?;
    let bits = rectified(&mut program, &x, shifts[0], WIDTHS[0])?;
    let (x, side) = (pooled(&mut program, &bits, side)?, side / 2);
    let (x, side) = convolution(&mut program, &x, side, CHANNELS, &second)?;
    let bits = rectified(&mut program, &x, shifts[1], WIDTHS[1])?;
    let x = pooled(&mut program, &bits, side)?;
    let x = program.reshape(&x, shape(&[1, LAYERS[2][0]])?)?;
    let x = affine(&mut program, &x, &third)?;
    let bits = rectified(&mut program, &x, shifts[2], WIDTHS[2])?;
    let x = program.num(&bits)?;
    let logits = affine(&mut program, &x, &last)?;
    program.output("logits", &logits, &[reader])?;
    program.check_size()?;
    Ok(program)
}

/// x times weights, plus biases.
fn affine(program: &mut Script, x: &Value, [weights, biases]: &[Value; 2]) -> Result<Value, ProgramError> {
    let sums = program.matmul(x, weights)?;
    program.add(&sums, biases)
}

/// A convolution of `side` times `side` points; the channels of a point are neighbours. The result has a row
/// for each place and a column for each channel. Also returns the side of the result.
fn convolution(
    program: &mut Script,
    x: &Value,
    side: usize,
    channels: usize,
    layer: &[Value; 2],
) -> Result<(Value, usize), ProgramError> {
    let out = side + 1 - WINDOW;
    let mut places = Vec::with_capacity(out * out * WINDOW * WINDOW * channels);
    for (y, x) in (0..out * out).map(|at| (at / out, at % out)) {
        for (dy, dx) in (0..WINDOW * WINDOW).map(|at| (at / WINDOW, at % WINDOW)) {
            let point = (y + dy) * side + x + dx;
            places.extend((0..channels).map(|channel| point * channels + channel));
        }
    }
    let windows = program.gather(x, &places)?;
    let windows = program.reshape(&windows, shape(&[out * out, WINDOW * WINDOW * channels])?)?;
    Ok((affine(program, &windows, layer)?, out))
}

/// ReLU: max(0, x / 2^by rounded down), as bits.
fn rectified(program: &mut Script, x: &Value, by: u32, width: usize) -> Result<Value, ProgramError> {
    let scaled = program.shift(x, -i64::from(by))?;
    let (bits, negative) = (program.bits(&scaled, width)?, program.lt(&scaled, 0)?);
    program.select(&negative, 0, &bits)
}

/// The maximum of each 2x2 block of every channel, as numbers. Rows are places, columns are channels.
fn pooled(program: &mut Script, x: &Value, side: usize) -> Result<Value, ProgramError> {
    let half = side / 2;
    let mut places = Vec::with_capacity(side * side * CHANNELS);
    for (y, x) in (0..half * half).map(|at| (at / half, at % half)) {
        for channel in 0..CHANNELS {
            for (dy, dx) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                places.push(((2 * y + dy) * side + 2 * x + dx) * CHANNELS + channel);
            }
        }
    }
    let blocks = program.gather(x, &places)?;
    let blocks = program.reshape(&blocks, shape(&[half * half * CHANNELS, 4])?)?;
    let [largest, _] = program.max(&blocks)?;
    program.num(&largest)
}

/// A test digit: its 784 points row by row, and the right answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The points.
    pub image: Vec<i64>,
    /// The digit.
    pub digit: u8,
}

/// The digits that the network in the repository was not trained with, enlarged: each point becomes 3x3
/// points, with a border of two zeros.
#[must_use]
pub fn held_out() -> Vec<Sample> {
    let sample = |bytes: &[u8]| {
        let border = (SIDE - 3 * SMALL) / 2;
        let point = |at: usize| {
            let place = |at: usize| at.checked_sub(border).map(|at| at / 3).filter(|at| *at < SMALL);
            let at = place(at / SIDE).zip(place(at % SIDE)).map(|(y, x)| SMALL * y + x);
            at.and_then(|at| bytes.get(at)).map_or(0, |point| i64::from(*point))
        };
        Sample {
            image: (0..SIDE * SIDE).map(point).collect(),
            digit: bytes.last().copied().unwrap_or_default(),
        }
    };
    HELD_OUT.chunks_exact(SMALL * SMALL + 1).map(sample).collect()
}

/// Reads images from a file in MNIST's format IDX: the bytes 0, 0, 8, 3; the numbers of images, rows and
/// columns, four bytes each in big-endian order; then one byte for each point, 0 to 255. Points are divided
/// by 16.
///
/// # Errors
/// If the format is another one, the images have another size, or their number is not that in the header.
pub fn read_idx(bytes: &[u8]) -> Result<Vec<Vec<i64>>, ProgramError> {
    let number = |at: usize| {
        let bytes: Option<[u8; 4]> = bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map(u32::from_be_bytes)
    };
    let side = SIDE as u32;
    let (Some(0x0803), Some(count), Some(rows), Some(columns)) =
        (number(0), number(4), number(8), number(12))
    else {
        return Err("not a file of images in the format IDX".into());
    };
    if (rows, columns) != (side, side) {
        return Err(format!("images of {rows}x{columns}: they must be {SIDE}x{SIDE}"));
    }
    let points = bytes.get(16..).unwrap_or_default();
    if points.len() as u64 != u64::from(count) * (SIDE * SIDE) as u64 {
        return Err(format!("the file declares {count} images, and has {} points", points.len()));
    }
    let image = |points: &[u8]| points.iter().map(|point| i64::from(point / 16)).collect();
    Ok(points.chunks_exact(SIDE * SIDE).map(image).collect())
}

/// Reads the labels (digits) of such images, from a file in the same format: the bytes 0, 0, 8, 1; their
/// number, four bytes in big-endian order; then one byte for each digit.
///
/// # Errors
/// If the format is another one, a label is not a digit, or their number is not that in the header.
pub fn read_idx_labels(bytes: &[u8]) -> Result<Vec<u8>, ProgramError> {
    let Some((&[0, 0, 8, 1, a, b, c, d], digits)) = bytes.split_first_chunk() else {
        return Err("not a file of labels in the format IDX".into());
    };
    let count = u32::from_be_bytes([a, b, c, d]);
    if digits.len() as u64 != u64::from(count) {
        return Err(format!("the file declares {count} labels, and has {}", digits.len()));
    }
    if let Some(place) = digits.iter().position(|digit| *digit > 9) {
        return Err(format!("label {} is not a digit", place + 1));
    }
    Ok(digits.to_vec())
}

/// The digit that the network's ten outputs mean: the position of the largest, the first one of equal ones.
#[must_use]
pub fn answer(logits: &[i64]) -> Option<u8> {
    let largest = logits.iter().max()?;
    logits.iter().position(|logit| logit == largest).and_then(|place| u8::try_from(place).ok())
}

/// The inputs of [`script`]: a network, and an image.
///
/// # Errors
/// If the image does not have 784 points of 0 to 16.
pub fn inputs_for(network: &Network, image: &[i64]) -> Result<Vec<Entries>, ProgramError> {
    if image.len() != SIDE * SIDE || image.iter().any(|point| !(0..=BRIGHTEST).contains(point)) {
        return Err(format!("an image has {} points from 0 to {BRIGHTEST}", SIDE * SIDE));
    }
    Ok(std::iter::once(Entries::Num(image.to_vec())).chain(network.entries()).collect())
}

pub(super) fn inputs(draw: Draw<'_>) -> Result<Vec<Entries>, ProgramError> {
    let samples = held_out();
    let sample = samples.get(draw(samples.len() as u64) as usize).ok_or("no digits")?;
    inputs_for(&Network::trained()?, &sample.image)
}
