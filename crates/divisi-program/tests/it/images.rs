//! Images and labels from a user's files.

use divisi_engine::name::Name;
use divisi_program::images::LabelledImages;
use std::path::PathBuf;

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
