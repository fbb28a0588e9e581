//! The sample data of other programs, which is not part of this repository: `CONVO_FIXTURES` names its folder, else it
//! is `../shared/fixtures` next to this crate. Without it the tests that need it are ignored: see `build.rs`.

use std::path::{Path, PathBuf};

/// A file or folder of the sample data.
pub fn path(name: &str) -> PathBuf {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/fixtures");
    let path = std::env::var_os("CONVO_FIXTURES")
        .map_or_else(default, PathBuf::from)
        .join(name);
    assert!(path.exists(), "no sample data at {}", path.display());
    path
}
