//! The benchmark of divisi-field's kernels (`just bench-kernels`), a package of its own because nothing else
//! needs criterion.
