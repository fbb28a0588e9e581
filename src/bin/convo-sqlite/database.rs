//! Read-only access to a database, which never creates or changes files next to it.

use convo::error::{Error, ErrorKind, Result};
use convo::model::time;
use convo::store::temporary_dir;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;

/// An open database.
pub struct Database {
    connection: Connection,
    /// The file name without its directory.
    name: String,
    /// The temporary copy, if one is read.
    _copy: Option<TempDir>,
    /// The file, if it is read without a lock, and its size and time when it was opened.
    alone: Option<(PathBuf, SizeAndTime)>,
    /// Whether the database uses a write-ahead log that does not exist.
    lacks_its_log: bool,
}

/// Size and modification time.
type SizeAndTime = (u64, Option<SystemTime>);

/// The first bytes of every database.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Maximum size of a value or row in bytes; reading one takes several times as much memory.
const LONGEST: i32 = 64 << 20;

/// How long to wait for the lock of another program.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// How long an index of the log may look like one that must be recovered; a program writes its header in an instant.
const INDEX_WAIT: Duration = Duration::from_millis(500);

/// How long to wait before the next attempt to open or to read a database.
const PAUSE: Duration = Duration::from_millis(5);

impl Database {
    /// Opens a database. If it has a write-ahead log:
    ///
    /// - and an index of the log, a program uses the database: opens it as another reader, which locks the index but
    ///   does not change it;
    /// - and no index, a program died: opens a copy of the file and the log, because reading them in place would create
    ///   an index.
    ///
    /// Without a log, the file itself is complete.
    pub fn open(path: &Path) -> Result<Database> {
        check(path)?;
        // Between two changes of a busy program, an attempt may find no state that it can read.
        let end = Instant::now() + LOCK_WAIT;
        let mut opened = OpenDatabase::of(path);
        while opened
            .as_ref()
            .is_err_and(|error| error.kind == ErrorKind::Locked)
            && Instant::now() < end
        {
            std::thread::sleep(PAUSE);
            opened = OpenDatabase::of(path);
        }
        let OpenDatabase {
            connection,
            copy,
            alone,
            is_logged,
            lacks_its_log,
        } = opened?;
        let name = path.file_name().unwrap_or_default();
        let database = Database {
            connection,
            name: name.to_string_lossy().into_owned(),
            _copy: copy,
            alone,
            lacks_its_log,
        };
        // While no other program writes. With a log, the file itself may be incomplete.
        if !is_logged || lacks_its_log {
            database.at_once(|| database.tables().and_then(|_| check_complete(path)))?;
        }
        Ok(database)
    }

    /// Returns the file name without its directory.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the database uses a write-ahead log that does not exist. The file is complete if the program that wrote
    /// it has ended; otherwise the newest changes are missing.
    pub fn lacks_its_log(&self) -> bool {
        self.lacks_its_log
    }

    /// Runs several reads in one transaction. Keep it short, because it blocks programs that write.
    pub fn at_once<T>(&self, read: impl FnOnce() -> Result<T>) -> Result<T> {
        self.connection.execute_batch("BEGIN").map_err(failed)?;
        let found = read();
        self.connection.execute_batch("ROLLBACK").map_err(failed)?;
        found
    }

    /// Fails if another program began to write during a read without a lock.
    pub fn check_unchanged(&self) -> Result<()> {
        let Some((path, before)) = &self.alone else {
            return Ok(());
        };
        if facts(path)? == *before && with_suffix(path, LOG).is_none() {
            return Ok(());
        }
        Err(changed())
    }

    /// Returns the names of the tables.
    pub fn tables(&self) -> Result<Vec<String>> {
        self.all(
            "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name",
            &[],
            |row| row.get(0),
        )
    }

    /// Returns the column names of a table; empty if the table does not exist.
    pub fn columns(&self, table: &str) -> Result<Vec<String>> {
        self.all("SELECT name FROM pragma_table_info(?1)", &[table], |row| {
            row.get(0)
        })
    }

    /// Returns the FROM clause, in which the table is `t`, and the column to look up rows of a table without a full
    /// scan. If the table has no index on the column, creates one in memory or in an unnamed file, which is deleted
    /// with the connection.
    pub fn by(&self, table: &str, column: &str) -> Result<(String, String)> {
        let known = "SELECT 1 FROM pragma_index_list(?1) l, pragma_index_info(l.name) i \
                     WHERE i.seqno = 0 AND lower(i.name) = lower(?2) AND l.partial = 0 LIMIT 1";
        if self.first(known, &[table, column], |_| Ok(()))?.is_some() {
            return Ok((format!("{} t", quoted(table)), format!("t.{}", quoted(column))));
        }
        let (of, built) = (quoted(table), quoted(&format!("{table} by {column}")));
        let column = quoted(column);
        let make = format!(
            "CREATE TEMP TABLE IF NOT EXISTS {built} AS SELECT {column} AS key, rowid AS at FROM main.{of};
             CREATE INDEX IF NOT EXISTS temp.{index} ON {built} (key, at);",
            index = quoted(&format!("index of {built}")),
        );
        retried(|| self.connection.execute_batch(&make)).map_err(failed)?;
        let from = format!("temp.{built} f CROSS JOIN main.{of} t ON t.rowid = f.at");
        Ok((from, "f.key".to_string()))
    }

    /// Returns the first row of a query.
    pub fn first<T>(
        &self,
        query: &str,
        values: &[&str],
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        Ok(self.all(query, values, read)?.into_iter().next())
    }

    /// Returns all rows of a query.
    pub fn all<T>(
        &self,
        query: &str,
        values: &[&str],
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let rows = || {
            let mut statement = self.connection.prepare(query)?;
            let rows = statement.query_map(rusqlite::params_from_iter(values), |row| read(row))?;
            rows.collect::<rusqlite::Result<Vec<T>>>()
        };
        retried(rows).map_err(failed)
    }
}

/// A connection to a database, or to a copy of it.
struct OpenDatabase {
    connection: Connection,
    copy: Option<TempDir>,
    /// The file and its facts, if it is read without a lock.
    alone: Option<(PathBuf, SizeAndTime)>,
    is_logged: bool,
    lacks_its_log: bool,
}

impl OpenDatabase {
    /// Tries once.
    fn of(path: &Path) -> Result<OpenDatabase> {
        let (log, index) = (with_suffix(path, LOG), with_suffix(path, "-shm"));
        let is_logged = head(path)?.get(MODE) == Some(&LOGGED);
        let mut alone = None;
        let lacks_its_log = is_logged && log.is_none();
        let (connection, copy) = match (log, index) {
            (_, Some(_)) if is_logged && let Ok(reader) = reader(path) => (reader, None),
            (Some(log), _) if is_logged => {
                let copy = copy(path, &log)?;
                (connect(&copy.path().join(COPY), "mode=ro")?, Some(copy))
            }
            (None, _) if is_logged => {
                alone = Some((path.to_path_buf(), facts(path)?));
                (connect(path, "mode=ro&immutable=1")?, None)
            }
            _ => (connect(path, "mode=ro")?, None),
        };
        Ok(OpenDatabase {
            connection,
            copy,
            alone,
            is_logged,
            lacks_its_log,
        })
    }
}

/// Returns the bytes of a column of any type; `None` for NULL.
pub fn bytes(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Vec<u8>>> {
    let value = row.get_ref(column)?;
    Ok(value.as_bytes_or_null()?.map(<[u8]>::to_vec))
}

/// Returns the text of a column with invalid UTF-8 replaced; `None` for NULL.
pub fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<String>> {
    Ok(bytes(row, column)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// Reads a column that contains a time.
pub fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<String>> {
    Ok(text(row, column)?.and_then(|text| utc(&text)))
}

/// Quotes a name for a query.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns the number in a column; `None` if the value is not a number.
pub fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<i64>> {
    Ok(row.get_ref(column)?.as_i64_or_null().unwrap_or_default())
}

/// Converts a time in UTC, with or without a zone, to RFC 3339; `None` if it is not a time.
pub fn utc(text: &str) -> Option<String> {
    let named = text.ends_with('Z') || text.get(19..).is_some_and(|rest| rest.contains(['+', '-']));
    let time = text.replacen(' ', "T", 1);
    let time = if named { time } else { format!("{time}Z") };
    time::is_rfc3339(&time).then_some(time)
}

/// Suffix of the write-ahead log.
const LOG: &str = "-wal";

/// Returns the path with this suffix; `None` if the file is empty or does not exist.
fn with_suffix(path: &Path, ending: &str) -> Option<PathBuf> {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    Some(PathBuf::from(name)).filter(|path| fs::metadata(path).is_ok_and(|about| about.len() > 0))
}

fn facts(path: &Path) -> Result<SizeAndTime> {
    let about = fs::metadata(path).map_err(|error| Error::io("cannot read", error))?;
    Ok((about.len(), about.modified().ok()))
}

/// Fails if the file is not a database, with an error message of convo.
fn check(path: &Path) -> Result<()> {
    let about = fs::metadata(path).map_err(Error::open)?;
    if !about.is_file() {
        return Err(Error::new(ErrorKind::Unsafe, "not a regular file"));
    }
    let mut head = Vec::new();
    let file = fs::File::open(path).map_err(Error::open)?;
    file.take(MAGIC.len() as u64)
        .read_to_end(&mut head)
        .map_err(|error| Error::io("cannot read", error))?;
    if head != MAGIC {
        return Err(Error::data("not an SQLite database"));
    }
    Ok(())
}

/// Size of the database header.
const HEADER: u64 = 100;

/// Offset of the journal mode in the header, and its value for a write-ahead log. Source: "Database File Format",
/// sqlite.org, 1.3.
const MODE: usize = 18;
const LOGGED: u8 = 2;

fn head(path: &Path) -> Result<Vec<u8>> {
    let read = || {
        let mut head = Vec::new();
        fs::File::open(path)?.take(HEADER).read_to_end(&mut head)?;
        Ok(head)
    };
    read().map_err(|error| Error::io("cannot read", error))
}

/// Fails if the file is truncated: SQLite would read it and return less data. Source: same, 1.3.2, 1.3.7 and 1.3.8: the
/// page count is valid while the change counter equals the one that it was written with.
fn check_complete(path: &Path) -> Result<()> {
    let head = head(path)?;
    let number = |at: usize| {
        let bytes = head.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u32::from_be_bytes)
    };
    let page = match number(16) >> 16 {
        1 => 65536,
        page => u64::from(page),
    };
    let (there, whole) = (facts(path)?.0, page * u64::from(number(28)));
    if number(24) != number(92) || there >= whole {
        return Ok(());
    }
    let error = Error::data(format!("truncated: {there} of {whole} bytes"));
    Err(error.hint("recover the rest with: sqlite3 FILE .recover"))
}

fn connect(path: &Path, how: &str) -> Result<Connection> {
    // A URI, because it can set the open mode; escapes every byte of the path that is special in a URI.
    let mut uri = String::from("file:");
    for byte in fs::canonicalize(path)
        .map_err(Error::open)?
        .as_os_str()
        .as_bytes()
    {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                uri.push(char::from(*byte))
            }
            other => uri.push_str(&format!("%{other:02x}")),
        }
    }
    let uri = format!("{uri}?{how}");
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(uri, flags).map_err(failed)?;
    connection.busy_timeout(LOCK_WAIT).map_err(failed)?;
    connection
        .set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)
        .map_err(failed)?;
    // The database is untrusted: do not run functions in its views.
    connection
        .pragma_update(None, "trusted_schema", false)
        .map_err(failed)?;
    Ok(connection)
}

/// Opens a database that other programs use. The index of the log is only read: a reader only needs locks on it, unless
/// no program has left a read mark there that it can use.
fn reader(path: &Path) -> Result<Connection> {
    let connection = connect(path, "mode=ro&readonly_shm=1")?;
    let count = || connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()));
    retried(count).map_err(failed)?;
    Ok(connection)
}

/// Reads again while the index of the log looks like one that a dead program left, which only a writer could repair: its
/// header looks so if it is read while it changes. Source: walIndexReadHdr() of SQLite.
fn retried<T>(read: impl Fn() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let end = Instant::now() + INDEX_WAIT;
    let mut found = read();
    while found.as_ref().is_err_and(needs_recovery) && Instant::now() < end {
        std::thread::sleep(PAUSE);
        found = read();
    }
    found
}

/// Whether SQLite found an index of the log that must be recovered first.
fn needs_recovery(error: &rusqlite::Error) -> bool {
    error
        .sqlite_error()
        .is_some_and(|error| error.extended_code == rusqlite::ffi::SQLITE_READONLY_RECOVERY)
}

/// Converts an error of SQLite.
pub fn failed(error: rusqlite::Error) -> Error {
    let kind = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ErrorKind::Locked,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::TypeMismatch) => {
            ErrorKind::Data
        }
        Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            ErrorKind::InputOutput
        }
        Some(ErrorCode::ReadOnly) => {
            let error = Error::new(
                ErrorKind::Locked,
                "an interrupted transaction would have to be undone",
            );
            return error.hint("copy it with the files next to it, and open the copy with its program");
        }
        Some(ErrorCode::TooBig) => {
            let what = format!("a value is longer than {} MiB", LONGEST >> 20);
            return Error::data(what)
                .hint("find the value with: sqlite3 FILE, and max(length(COLUMN)) of each column");
        }
        _ => ErrorKind::Data,
    };
    let reported = Error::new(kind, format!("the database: {error}"));
    match kind {
        ErrorKind::Locked => reported.hint("another program is writing; run the command again"),
        _ => reported,
    }
}

/// Returns the error for a database that changed during the read.
fn changed() -> Error {
    let error = Error::new(ErrorKind::Locked, "modified by another program while it was read");
    error.hint("the output may be inconsistent; run the command again")
}

/// The file name of a copy.
const COPY: &str = "copy.db";

/// Copies a database and the log of a program that died: reading it in place would create an index.
fn copy(path: &Path, log: &Path) -> Result<TempDir> {
    let before = (facts(path)?, facts(log)?);
    let copied = || {
        let dir = temporary_dir()?;
        fs::copy(path, dir.path().join(COPY))?;
        fs::copy(log, dir.path().join(format!("{COPY}-wal")))?;
        Ok(dir)
    };
    let copy = copied().map_err(|error| {
        Error::io("cannot copy the database to read its log", error).kind(ErrorKind::InputOutput)
    })?;
    // A checkpoint may have moved the log into the file meanwhile.
    if (facts(path)?, facts(log)?) == before {
        return Ok(copy);
    }
    Err(changed())
}
