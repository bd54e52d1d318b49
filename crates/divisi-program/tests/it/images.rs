//! Images and labels from a user's files.

use divisi_core::Security;
use divisi_engine::job::EngineJob;
use divisi_engine::name::Name;
use divisi_engine::{Engine, EngineSettings, Rows, Unsupported};
use divisi_program::adapter::MixedEngine;
use divisi_program::adapter::jobs::ProgramJob;
use divisi_program::images::{APPLICATION, LabelledImages};
use std::path::PathBuf;
use std::sync::Arc;

/// A file of this test's, gone when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, bytes: &[u8]) -> Scratch {
        let path = std::env::temp_dir().join(format!("divisi-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        Scratch(path)
    }

    fn name(&self) -> Name {
        Name::from(self.0.clone().into_os_string())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Each instance of a benchmark has the image in its place and is judged by its label, whichever repetition
/// it is in.
#[test]
fn each_instance_has_its_own_image() {
    let head = [0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 28, 0, 0, 0, 28];
    let pixels = [60, 150, 240].map(|pixel| vec![pixel; 784]).concat();
    let images = Scratch::new("own-images", &[&head[..], &pixels].concat());
    let labels = Scratch::new("own-labels", &[0, 0, 8, 1, 0, 0, 0, 3, 4, 9, 4]);
    let images = Arc::new(LabelledImages::read(&images.name(), &labels.name()).unwrap());
    let job = ProgramJob::load(&APPLICATION.to_owned().into(), Some(images), 3).unwrap();
    // no more instances than images, also in a later repetition
    let settings = EngineSettings { security: Security::SemiHonest, ..EngineSettings::default() };
    for (count, fits) in [(3, true), (4, false), (3, true), (4, false)] {
        let job = job.counted(count);
        let prepared = MixedEngine.jobs().own.unwrap().prepare(&*job, &settings).map(drop);
        let refused = |why: &Unsupported| why.to_string().contains("there are 3 images");
        assert!(prepared.is_ok() == fits && prepared.as_ref().err().is_none_or(refused), "{prepared:?}");
    }
    let inputs = |first, count| job.inputs(first, count).unwrap().unwrap();
    let all = inputs(0, 3);
    assert!(all.row(0) != all.row(1) && all.row(1) != all.row(2) && all.count() == 3);
    for first in 0..3 {
        for (at, row) in inputs(first, 3 - first).iter().enumerate() {
            assert!(row == all.row(first + at), "{first} {at}");
        }
    }
    let mut told = Rows::default();
    let logits =
        |digit: usize| (0..10).flat_map(|i| i64::from(i == digit).to_le_bytes()).collect::<Vec<u8>>();
    [4, 9, 9].iter().for_each(|digit| told.push(&[&logits(*digit)]));
    assert_eq!([0, 1, 2, 3].map(|first| job.right(first, &told)), [Some(2), Some(0), Some(1), Some(0)]);
}

/// Files of images and labels are read; other numbers of labels than of images are refused each time.
#[test]
fn images_have_as_many_labels() {
    let images = |count: usize| {
        let head = [0, 0, 8, 3, 0, 0, (count >> 8) as u8, count as u8, 0, 0, 0, 28, 0, 0, 0, 28];
        Scratch::new(&format!("images-{count}"), &[&head[..], &vec![7; count * 784]].concat())
    };
    let labels = |digits: &[u8]| {
        let bytes = [&[0, 0, 8, 1, 0, 0, 0, digits.len() as u8][..], digits].concat();
        Scratch::new(&format!("labels-{}", digits.len()), &bytes)
    };
    let (none, two, many) = (images(0), images(2), images(258));
    let (no, both, three) = (labels(&[]), labels(&[4, 9]), labels(&[1, 2, 3]));
    let read = |images: &Scratch, labels: &Scratch| LabelledImages::read(&images.name(), &labels.name());
    for _ in 0..2 {
        let error = read(&two, &three).unwrap_err().to_string();
        assert!(error.contains("has 3 labels for the 2 images of"), "{error}");
        assert!(read(&two, &no).is_err() && read(&none, &both).is_err() && read(&many, &both).is_err());
        // each in the place of the other
        let error = read(&both, &two).unwrap_err().to_string();
        assert!(error.contains("give a file in MNIST's format (IDX)"), "{error}");
    }
    let all = read(&two, &both).unwrap();
    assert!(all.len() == 2 && !all.is_empty() && all.inputs(1).is_ok());
    assert!(all.inputs(2).unwrap_err().to_string().contains("give a smaller --count"));
    let logits = |digit: usize| (0..10).map(|i| i64::from(i == digit)).collect::<Vec<i64>>();
    assert!(all.is_right(0, &logits(4)) && all.is_right(1, &logits(9)));
    assert!(!all.is_right(0, &logits(9)) && !all.is_right(2, &logits(4)));
    assert!(!all.is_right(0, &[]) && !all.is_right(2, &[]));
    let empty = read(&none, &no).unwrap();
    assert!(empty.is_empty() && empty.inputs(0).is_err());
    let missing = read(&two, &Scratch(std::env::temp_dir().join("divisi-there-is-no-such-file")));
    assert!(missing.unwrap_err().to_string().contains("cannot be read"));
}
