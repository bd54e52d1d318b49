//! Programs on numbers and bits: their files, and their values as text.

use crate::applications::{self, Application};
use crate::literal;
use crate::plain::{Entries, fits};
use crate::program::Input;
use crate::{Code, Interval, NumberSize, RunCost, Script, ValueKind, lower, text, valid};
use divisi_engine::circuit;
use divisi_engine::failure::Failure;
use divisi_engine::name::Name;
use divisi_engine::source;
use divisi_symmetric::gates::Adder;
use std::cell::RefCell;
use std::sync::Arc;

/// The most bytes of a program's file.
const LONGEST: u64 = 16 << 20;

/// A program from its file, or one of [`applications`], ready to run.
pub struct HeldProgram {
    name: Name,
    program: Script,
    code: Code,
    digest: [u8; 32],
    /// The application, for one that is built in.
    application: Option<&'static Application>,
}

/// The facts about a program.
#[derive(Clone, Copy, Debug)]
pub struct ProgramFacts {
    /// The number of statements that compute.
    pub statements: usize,
    /// The number of inputs.
    pub inputs: usize,
    /// The number of outputs.
    pub outputs: usize,
    /// The highest party number in it.
    pub parties: u8,
    /// The cost of a run.
    pub cost: RunCost,
}

impl HeldProgram {
    /// The application of this name, or a program from its file, with the circuits that it names.
    ///
    /// # Errors
    /// [`Failure`] if the file cannot be read, or has a wrong statement; it names the line of the first one.
    pub fn load(name: impl Into<Name>) -> Result<HeldProgram, Failure> {
        let path: Name = name.into();
        if let Some(application) = path.unicode().and_then(applications::named) {
            return HeldProgram::own(application);
        }
        let unread = |e: &dyn std::fmt::Display| {
            let own: Vec<&str> = applications::ALL.iter().take(5).map(|own| own.name).collect();
            let own = own.join(", ");
            Failure::usage(format!("{path} cannot be read ({e}): give a program's file, or one of {own}"))
        };
        let failed = |e: std::io::Error| match e.kind() {
            std::io::ErrorKind::FileTooLarge => {
                Failure::usage(format!("{path} has more than {} MiB: split the program", LONGEST >> 20))
            }
            _ => unread(&e),
        };
        // each party of a run reads it again
        let path = source::lasting(&path, LONGEST).map_err(failed)?;
        let mut body = source::read(path.path(), LONGEST).map_err(failed)?;
        let body = std::mem::take(&mut *body);
        let body = String::from_utf8(body).map_err(|_| unread(&"it is not a text in UTF-8"))?;
        let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 program v1");
        hasher.update(body.as_bytes());
        // the digests of circuits follow in order: with another circuit it is another program
        let digests = RefCell::new(Vec::new());
        let find = |name: &str| {
            let circuit = circuit::load(name, Adder::FewestAnds).map_err(|failure| failure.to_string())?;
            digests.borrow_mut().push(circuit.digest());
            Ok(Arc::new(circuit.program))
        };
        let program = text::read(&body, &find).map_err(|error| Failure::usage(format!("{path}, {error}")))?;
        for digest in digests.borrow().iter() {
            hasher.update(digest);
        }
        let code = lowered(&path, &program)?;
        let digest = *hasher.finalize().as_bytes();
        Ok(HeldProgram { name: path, program, code, digest, application: None })
    }

    fn own(application: &'static Application) -> Result<HeldProgram, Failure> {
        let program = application.script().map_err(Failure::usage)?;
        let (code, digest) = (lowered(application.name, &program)?, digest_of(application.name, &program));
        Ok(HeldProgram {
            name: application.name.into(),
            program,
            code,
            digest,
            application: Some(application),
        })
    }

    /// Inputs for measurements: an application's own, else random valid ones ([`crate::valid`]).
    /// `draw` returns a random number below its argument.
    ///
    /// # Errors
    /// [`Failure`] if no valid inputs are found.
    pub fn samples(&self, draw: &mut dyn FnMut(u64) -> u64) -> Result<Vec<Entries>, Failure> {
        let found = match self.application {
            Some(application) => application.inputs(draw),
            None => valid::random(&self.program, draw),
        };
        found.map_err(|error| Failure::usage(format!("{}: {error}", self.name)))
    }

    /// The path of its file, or the application's name.
    #[must_use]
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// The program's statements.
    #[must_use]
    pub fn program(&self) -> &Script {
        &self.program
    }

    /// The code that the program is compiled to.
    #[must_use]
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// A digest of its text and its circuits, for parties to compare.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// The facts about the program.
    #[must_use]
    pub fn about(&self) -> ProgramFacts {
        ProgramFacts {
            statements: computing(&self.program),
            inputs: self.program.inputs().len(),
            outputs: self.program.outputs().len(),
            parties: self.program.parties(),
            cost: self.code.cost(),
        }
    }

    /// The entries of each input from `NAME=V,V,...`: of all inputs, or only of those of one owner, with
    /// `None` for the others.
    ///
    /// # Errors
    /// [`Failure`] if an input is unknown, is missing, is given twice, belongs to another party, or has a
    /// wrong value.
    pub fn inputs(&self, given: &[String], owner: Option<u8>) -> Result<Vec<Option<Entries>>, Failure> {
        let inputs = self.program.inputs();
        let mut found: Vec<Option<Entries>> = vec![None; inputs.len()];
        for given in given {
            let Some((name, values)) = given.split_once('=') else {
                return Err(Failure::usage(
                    "an input of a program is --input NAME=V,V,... or --input NAME=@FILE",
                ));
            };
            let Some(place) = inputs.iter().position(|input| input.name == name.trim()) else {
                let names: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
                let short: String = name.chars().take(40).collect();
                return Err(Failure::usage(format!(
                    "there is no input {short}: the program takes {}",
                    names.join(", ")
                )));
            };
            let input = &inputs[place];
            if owner.is_some_and(|owner| owner != input.owner) {
                return Err(Failure::usage(format!(
                    "the input {name} belongs to party {}, and only that party gives its values: leave it out here",
                    input.owner
                )));
            }
            if found[place].is_some() {
                return Err(Failure::usage(format!("the input {name} is given twice")));
            }
            found[place] = Some(entries(&self.program, input, values)?);
        }
        for (input, found) in inputs.iter().zip(&found) {
            if found.is_none() && owner.is_none_or(|owner| owner == input.owner) {
                let (name, kind, shape) = (&input.name, input.value.kind(), input.value.shape());
                return Err(Failure::usage(format!(
                    "the input {name} is missing: give --input {name}=V,V,... with the {} entries of {kind} {shape}",
                    shape.entries()
                )));
            }
        }
        for (input, found) in inputs.iter().zip(&found) {
            let fits = found.as_ref().map_or(Ok(()), |found| valid::in_range(&self.program, input, found));
            fits.map_err(|error| Failure::usage(format!("{}: {error}", self.name)))?;
        }
        if let Some(application) = self.application {
            let own = application.check(&found);
            own.map_err(|error| Failure::usage(format!("{}: {error}", self.name)))?;
        }
        Ok(found)
    }

    /// What the entries of an input can be; `None` for bits without a range.
    #[must_use]
    pub fn range(&self, input: &Input) -> Option<Interval> {
        let bounded = input.range.is_some() || input.value.kind() == ValueKind::Num;
        bounded.then(|| input.bounds(&self.program))
    }

    /// Evaluate the program in the clear, with a check that a run would be right ([`valid`]).
    ///
    /// # Errors
    /// [`Failure`] if an input is missing, or for an error of [`valid::evaluate`]: the sentence names the
    /// line and the value.
    pub fn evaluate(&self, inputs: &[Option<Entries>]) -> Result<Vec<Entries>, Failure> {
        let inputs: Option<Vec<Entries>> = inputs.iter().cloned().collect();
        let inputs = inputs.ok_or_else(|| Failure::usage("an input is missing"))?;
        let name = &self.name;
        valid::evaluate(&self.program, &inputs).map_err(|error| Failure::usage(format!("{name}, {error}")))
    }
}

/// How many statements compute: all but inputs and assumptions.
fn computing(program: &Script) -> usize {
    program.statements().len() - program.inputs().len() - program.assumptions().len()
}

fn lowered(name: &str, program: &Script) -> Result<Code, Failure> {
    lower(program).ok_or_else(|| Failure::usage(format!("{name} has statements that do not fit together")))
}

/// The entries of an input, from values that commas or white space separate.
pub(crate) fn entries(program: &Script, input: &Input, values: &str) -> Result<Entries, Failure> {
    let largest = program.numbers().largest();
    let words = values.split(|c: char| c == ',' || c.is_whitespace()).filter(|word| !word.is_empty());
    // no value in a message: it is a secret
    let wrong = |i: usize, what: String| {
        Failure::usage(format!("value {} of the input {} {what}", i + 1, input.name))
    };
    let entries = match input.value.kind() {
        ValueKind::Num => {
            let number = |(i, word): (usize, &str)| {
                let unsigned = word.strip_prefix('+').filter(|rest| !rest.starts_with('-'));
                let number = literal::integer(unsigned.unwrap_or(word))
                    .filter(|x| x.unsigned_abs() <= largest.unsigned_abs());
                number.ok_or_else(|| wrong(i, format!("is not an integer from -{largest} to {largest}")))
            };
            Entries::Num(words.enumerate().map(number).collect::<Result<_, _>>()?)
        }
        ValueKind::Bits(width) => {
            let word = |(i, word): (usize, &str)| {
                literal::bits(word, width).ok_or_else(|| {
                    wrong(
                        i,
                        format!(
                            "is not a number of {width} bits: give decimal digits, or 0x and hexadecimal ones"
                        ),
                    )
                })
            };
            Entries::Bits(words.enumerate().map(word).collect::<Result<_, _>>()?)
        }
    };
    fits(program, input, &entries).map_err(Failure::usage)?;
    Ok(entries)
}

/// The values of an output for people and JSON: numbers, and words of up to 64 bits, in decimal digits, wider
/// words in hexadecimal after `0x`.
#[must_use]
pub fn shown(entries: &Entries) -> Vec<String> {
    match entries {
        Entries::Num(numbers) => numbers.iter().map(ToString::to_string).collect(),
        Entries::Bits(words) => words.iter().map(|bits| word(bits)).collect(),
    }
}

fn word(bits: &[bool]) -> String {
    if bits.len() <= 64 {
        return bits.iter().rev().fold(0_u64, |n, bit| n << 1 | u64::from(*bit)).to_string();
    }
    let digit = |bits: &[bool]| bits.iter().rev().fold(0, |n, bit| n << 1 | u32::from(*bit));
    let digits = bits.chunks(4).rev().filter_map(|bits| char::from_digit(digit(bits), 16));
    format!("0x{}", digits.collect::<String>())
}

/// A digest of everything that is public about an application, so that two versions with different ones
/// notice that.
fn digest_of(name: &str, program: &Script) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("divisi 2026 application v1");
    // numbers have 31 bits unless this says more
    if program.numbers() != NumberSize::default() {
        hasher.update(&program.numbers().modulus().to_le_bytes());
    }
    let all = (program.inputs(), program.statements(), program.outputs());
    hasher.update(format!("{name} {all:?}").as_bytes());
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests;
