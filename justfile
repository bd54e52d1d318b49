# The same as what runs before a change lands.
check:
    .ci/run

# Everything that takes longer: whole censuses, long statistics, all seeds and positions that tests have.
long:
    cargo test --release --workspace -- --ignored
    DIVISI_LONG=1 cargo test --release --workspace

protocols := "--workspace --exclude divisi-cli --exclude divisi-node"

# the workspace of what only developers run
lab := "--manifest-path lab/Cargo.toml --target-dir target"

# Tests of engines and servers, optimised and without debug assertions; known answers on each kernel.
suites:
    cargo test --release --workspace --exclude divisi-cli
    DIVISI_KERNEL=portable cargo test --release {{protocols}} --lib
    DIVISI_KERNEL=portable cargo test --release {{protocols}} --test it suite::
    DIVISI_KERNEL=avx2 cargo test --release {{protocols}} --lib
    DIVISI_KERNEL=avx2 cargo test --release {{protocols}} --test it suite::

today := `date +%Y%j`

# What a day has time for and a change has not: long tests, every weakened build of the lists and twenty made
# by rule of each engine, costs, secrets in branches and timings, each package and feature apart, the oldest
# compiler, Miri, another processor.
nightly: suites long fuzz packages publish-check oldest miri arm arm-instructions deny rows \
    (weakened "--sample" "20" "--seed" today) instructions poison dudect-long python-long busy

# A million random inputs for each decoder, with every assertion on.
fuzz:
    DIVISI_FUZZ_INPUTS=1000000 cargo test --workspace --lib --test it random_

# Lints and tests of each package by itself, with each of its features: what one lacks, another cannot lend.
packages *names:
    .ci/packages {{names}}

# The packages of all crates, built from what they contain; nothing is published.
publish-check:
    .ci/publish

# Builds with the oldest compiler that `rust-version` promises, where it is installed.
oldest:
    .ci/oldest

# Decoders and portable kernels under Miri, where it is installed.
miri:
    .ci/miri

# The known answers of each engine on aarch64, under an emulator, where both are installed.
arm:
    .ci/arm

# Instructions there beside those of AVX2, counted by the emulator.
arm-instructions:
    .ci/arm-instructions

# Client libraries of others, in Python and Go, against three servers and a gateway.
clients *options:
    .ci/clients {{options}}

# A page of `divisi reproduce` in headless Chromium: `just page report/report.html`, or one that it makes.
page *report:
    .ci/page {{report}}

# The Python package: its wheel, its types and its tests; with DIVISI_LONG=1 more of them.
python *options:
    .ci/python {{options}}

# More calls, a measurement that wants a quiet machine, and the recipe of Ray (620 MB are installed for it).
python-long:
    DIVISI_LONG=1 DIVISI_RAY=1 .ci/python

# Licences, sources and advisories of all dependencies, where cargo-deny is installed.
deny:
    .ci/deny

# One mutant a check, each killed by a named test, and all other tests that need hooks (CONTRIBUTING.md); then
# the attacks on the real code.
mutants:
    cargo run {{lab}} -p divisi-attacks -- --hooked
    cargo test {{lab}} -p divisi-attacks

# What each field kernel costs on this machine.
kernels:
    cargo run --release -p divisi-field --example kernels

# The same with statistics, against the last time.
bench-kernels *filter:
    cargo bench {{lab}} -p divisi-kernels -- {{filter}}

# Fails where a kernel or a protocol executes 3 % more instructions than
# lab/measure/instructions.txt says (docs/measuring.md).
instructions:
    cargo run {{lab}} --release -p divisi-measure -- instructions

# Writes that file anew.
instructions-update:
    cargo run {{lab}} --release -p divisi-measure -- instructions --update

# Fails where a branch or an address depends on a secret, or where something is opened that no protocol opens.
poison:
    cargo run {{lab}} --release -p divisi-measure -- poison

# Fails where timings of a kernel tell secret inputs apart.
dudect:
    cargo run {{lab}} --release -p divisi-measure -- dudect

# The same with ten times the samples, and stricter.
dudect-long:
    cargo run {{lab}} --release -p divisi-measure -- dudect --long

# Weakened builds that rules make of the protocol files, drawn by a seed: so many of those that build, of each
# engine, of what all engines rest on, and of the servers; it goes on where another run stopped
# (target/mutants/rules.tsv). `just weakened --sample 150 --seed 7`, `--engine garble`, `--shard 2/4`.
weakened *options:
    .ci/mutants {{options}}

# Weakened builds that no rule makes: each written by hand, and noticed by a named test. A name, check or
# engine alone: `just rows --only A8 --only spdz`.
rows *options:
    cargo run {{lab}} -p divisi-attacks -- {{options}}

# Prints the table of weakened builds, a page of Markdown.
weakened-table:
    cargo run {{lab}} -p divisi-attacks -- --table

# Mutants by cargo-mutants, going on where a sweep stopped (target/mutants/results.tsv). A part of them:
# `just mutants-sweep 2/4`.
mutants-sweep shard="1/1" *options:
    .ci/mutants --shard {{shard}} {{options}}

# How many of the mutants are done, and which survive without an explanation in
# lab/attacks/mutants/survivors.tsv.
mutants-report:
    .ci/mutants --report

# Mutants of what has changed since a revision, as many as five minutes allow.
mutants-diff base:
    .ci/mutants-diff {{base}}

# The test files that have a time limit, three times beside 20 busy processes.
busy:
    .ci/busy
