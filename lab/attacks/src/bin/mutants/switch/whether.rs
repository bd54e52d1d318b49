
#[doc(hidden)]
#[allow(missing_docs)]
pub fn mutant_is_on(number: u32) -> bool {
    use std::io::Write;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};
    static ON: OnceLock<u32> = OnceLock::new();
    // as many as `crate::reach` takes from the notes
    static ASKED: [AtomicBool; 4096] = [const { AtomicBool::new(false) }; 4096];
    if let Some(asked) = ASKED.get(number as usize) {
        if !asked.load(Ordering::Relaxed) && !asked.swap(true, Ordering::Relaxed) {
            if let Some(path) = std::env::var_os("DIVISI_REACHED") {
                let file = std::fs::File::options().append(true).create(true).open(path);
                if let Ok(mut file) = file {
                    let _ = file.write_all(format!("{number}\n").as_bytes());
                }
            }
        }
    }
    let on = || std::env::var("DIVISI_MUTANT").ok().and_then(|on| on.parse().ok()).unwrap_or(0);
    number == *ON.get_or_init(on)
}
