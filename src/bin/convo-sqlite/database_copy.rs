//! A copy of a database and its write-ahead log, for a log whose program died: reading it in place would create an index.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// A copy in its own directory, which is removed on drop.
pub struct DatabaseCopy {
    dir: PathBuf,
}

const NAME: &str = "copy.db";

impl DatabaseCopy {
    /// Copies the file and the log.
    pub fn of(path: &Path, log: &Path) -> io::Result<DatabaseCopy> {
        let copied = DatabaseCopy {
            dir: private_directory()?,
        };
        fs::copy(path, copied.path())?;
        fs::copy(log, copied.dir.join(format!("{NAME}-wal")))?;
        Ok(copied)
    }

    /// The path of the copied file.
    pub fn path(&self) -> PathBuf {
        self.dir.join(NAME)
    }
}

impl Drop for DatabaseCopy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// Creates a directory that only this user can read.
fn private_directory() -> io::Result<PathBuf> {
    let mut nth = 0;
    loop {
        let dir = std::env::temp_dir().join(format!("convo-sqlite-{}-{nth}", std::process::id()));
        match fs::DirBuilder::new().mode(0o700).create(&dir) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && nth < 1000 => nth += 1,
            built => return built.map(|()| dir),
        }
    }
}
