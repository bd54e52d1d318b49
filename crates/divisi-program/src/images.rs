//! Images of digits with their labels, from a user's files, with which the application `mnist` is measured.

use crate::applications::digits::{self, Network, Sample};
use crate::plain::Entries;
use divisi_engine::failure::Failure;
use divisi_engine::name::Name;
use divisi_engine::source;
use zeroize::Zeroizing;

/// The most bytes of a file: MNIST's 60,000 images are 47 MB.
const LONGEST: u64 = 256 << 20;

/// The name of the application that takes such images.
pub const APPLICATION: &str = "mnist";

/// Images with their labels.
#[derive(PartialEq, Eq)]
pub struct LabelledImages {
    network: Network,
    samples: Vec<Sample>,
}

impl LabelledImages {
    /// Reads MNIST's files: images and labels, each in the format IDX.
    ///
    /// # Errors
    /// [`Failure`] if a file cannot be read, has another format, or if there are not as many labels as
    /// images; it names the file.
    pub fn read(images: &Name, labels: &Name) -> Result<LabelledImages, Failure> {
        let wrong = |path: &Name, what: &str| {
            Failure::usage(format!("{path} cannot be used ({what}): give a file in MNIST's format (IDX)"))
        };
        let all = digits::read_idx(&read(images)?).map_err(|error| wrong(images, &error))?;
        let digits = digits::read_idx_labels(&read(labels)?).map_err(|error| wrong(labels, &error))?;
        if all.len() != digits.len() {
            return Err(Failure::usage(format!(
                "{labels} has {} labels for the {} images of {images}: give the labels of these images",
                digits.len(),
                all.len()
            )));
        }
        let network = Network::trained().map_err(Failure::usage)?;
        let sample = |(image, digit)| Sample { image, digit };
        Ok(LabelledImages { network, samples: all.into_iter().zip(digits).map(sample).collect() })
    }

    /// The number of images.
    #[must_use]
    pub fn len(&self) -> usize {
        self.samples.len()
    }

    /// Whether there are no images.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// The inputs of the application for an image.
    ///
    /// # Errors
    /// [`Failure`] if there is no such image.
    pub fn inputs(&self, image: usize) -> Result<Vec<Entries>, Failure> {
        let sample = self
            .samples
            .get(image)
            .ok_or_else(|| Failure::usage("there is no image with this number: give a smaller --count"))?;
        digits::inputs_for(&self.network, &sample.image).map_err(Failure::usage)
    }

    /// Whether the application's output for an image is the digit of its label.
    #[must_use]
    pub fn is_right(&self, image: usize, logits: &[i64]) -> bool {
        digits::answer(logits).is_some() && self.samples.get(image).map(|s| s.digit) == digits::answer(logits)
    }
}

/// Only the number of images is printed, because images are somebody's data.
impl std::fmt::Debug for LabelledImages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LabelledImages({})", self.samples.len())
    }
}

fn read(path: &Name) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let unread = |what: &dyn std::fmt::Display| {
        Failure::usage(format!("{path} cannot be read ({what}): give a file in MNIST's format (IDX)"))
    };
    source::read(path.path(), LONGEST).map_err(|e| unread(&e))
}
