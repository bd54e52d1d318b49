//! The examples of `divisi-rep3`, built with that crate and those of its values.

#[path = "../../crates/divisi-rep3/examples/exponential.rs"]
pub mod exponential;
#[path = "../../crates/divisi-rep3/examples/minifloat.rs"]
pub mod minifloat;
#[path = "../../crates/divisi-rep3/examples/noise.rs"]
pub mod noise;

#[test]
fn they_run() -> Result<(), Box<dyn std::error::Error>> {
    let x = [0.0, 1.0].map(exponential::round);
    assert_eq!(exponential::exponentials(&x)?, x.map(exponential::exponential));
    Ok(())
}
