# The same as what runs before a change lands.
check:
    .ci/run

# Everything that takes longer: full sweeps, long statistics.
long:
    cargo test --release --workspace -- --ignored

# One mutant a check, each killed by a named test.
mutants:
    cargo test --release -p divisi-rep3 --features fault --test mutants

# What each field kernel costs on this machine.
kernels:
    cargo run --release -p divisi-field --example kernels
