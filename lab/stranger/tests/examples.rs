//! The examples of the crates below `divisi`, each built with the crates that it names.

#[path = "../../../crates/divisi-rep3/examples/exponential.rs"]
pub mod exponential;
#[path = "../../../crates/divisi-rep3/examples/minifloat.rs"]
pub mod minifloat;
#[path = "../../../crates/divisi-rep3/examples/noise.rs"]
pub mod noise;

// programs that measure: they take minutes, and are built only
#[allow(dead_code)]
#[path = "../../../crates/divisi-bgv/examples/costs.rs"]
mod costs;
#[allow(dead_code)]
#[path = "../../../crates/divisi-field/examples/kernels.rs"]
mod kernels;
#[allow(dead_code)]
#[path = "../../../crates/divisi-garble/examples/speed.rs"]
mod speed;

#[test]
fn they_run() -> Result<(), Box<dyn std::error::Error>> {
    let x = [0.0, 1.0].map(exponential::round);
    assert_eq!(exponential::exponentials(&x)?, x.map(exponential::exponential));
    Ok(())
}
