//! Files read and written.

mod fixtures;
