//! Detects stores on network file systems, where locks and syncs do not guarantee what the store needs.

use super::Store;
use super::directory::FILE_MODE;
use rustix::fs;

/// The directory of data that may be deleted at any time.
pub(super) const CACHE: &str = "cache";

/// File system type numbers of Linux, from `include/uapi/linux/magic.h` and the sources of the file systems.
const NETWORKS: [(u64, &str); 8] = [
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xfe53_4d42, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0x0102_1997, "9P"),
    (0x00c3_6400, "Ceph"),
    (0x5346_414f, "AFS"),
    (0x7375_7245, "Coda"),
];

fn name(number: u64) -> Option<&'static str> {
    let found = NETWORKS.iter().find(|(known, _)| *known == number);
    found.map(|(_, name)| *name)
}

impl Store {
    /// The name of the network file system that contains the store; none for a local one, or if unknown.
    pub fn network(&self) -> Option<&'static str> {
        #[cfg(target_os = "linux")]
        {
            let about = fs::fstatfs(self.directory()).ok()?;
            let number = u32::try_from(about.f_type as u64 & 0xffff_ffff).unwrap_or_default(); // signed on some CPUs
            name(u64::from(number))
        }
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Whether this notice was not yet given for this store; records it in the cache.
    pub fn is_first_notice(&self, notice: &str) -> bool {
        let cache = self
            .directory()
            .make(CACHE)
            .and_then(|_| self.directory().inner(CACHE));
        match cache {
            Ok(Some(cache)) => cache.create(&format!("{notice}.told"), FILE_MODE).is_ok(),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_network_file_systems_are_named() {
        for local in [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630] {
            assert_eq!(name(local), None); // ext4, XFS, btrfs, tmpfs, overlay
        }
        assert_eq!(name(0x6969), Some("NFS"));
    }
}
