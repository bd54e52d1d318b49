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

# The same with statistics, against the last time.
bench-kernels *filter:
    cargo bench -p divisi-field -- {{filter}}

# Fails where a kernel or a protocol executes 3 % more instructions than crates/divisi-measure/instructions.txt says (docs/measuring.md).
instructions:
    cargo run --release -p divisi-measure -- instructions

# Writes that file anew.
instructions-update:
    cargo run --release -p divisi-measure -- instructions --update

# Fails where a branch or an address depends on a secret, or where something is opened that no protocol opens.
poison:
    cargo run --release -p divisi-measure -- poison

# Fails where timings of a kernel tell secret inputs apart.
dudect:
    cargo run --release -p divisi-measure -- dudect

# The same with ten times the samples, and stricter.
dudect-long:
    cargo run --release -p divisi-measure -- dudect --long
