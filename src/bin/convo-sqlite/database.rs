//! A database that is only read: whatever way it is opened, nothing is made or changed beside it.

use convo::error::{Error, Kind, Result};
use convo::model::time;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// An open database.
pub struct Database {
    connection: Connection,
    /// The file's name.
    name: String,
    /// The copy that is read, when it is one.
    _copy: Option<Copied>,
    /// The file that is read without any lock, and its size and time then.
    alone: Option<(PathBuf, Facts)>,
    /// Whether it is written through a log that is not there.
    lacks_its_log: bool,
}

/// Size and time of a change.
type Facts = (u64, Option<SystemTime>);

/// What every database begins with.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Maximum size of a value or row in bytes: reading one takes several times as much memory.
const LONGEST: i32 = 64 << 20;

/// How long another program may hold it.
const PATIENCE: Duration = Duration::from_secs(5);

impl Database {
    /// Opens a file. With a write-ahead log beside it:
    ///
    /// - and the index of that log, a program is at work: the file is read as one of its readers, which locks the index
    ///   and does not change it;
    /// - and no index, a program died: file and log are read in a copy, since reading them would make an index;
    ///
    /// and without one nothing can be missing from the file itself.
    pub fn open(path: &Path) -> Result<Database> {
        check(path)?;
        let (log, index) = (beside(path, LOG), beside(path, "-shm"));
        let is_logged = head(path)?.get(MODE) == Some(&LOGGED);
        let mut alone = None;
        let lacks_its_log = is_logged && log.is_none();
        let (connection, copy) = match (log, index) {
            (_, Some(_)) if is_logged && let Ok(reader) = reader(path) => (reader, None),
            (Some(log), _) if is_logged => {
                let copy = Copied::of(path, &log)?;
                (connect(&copy.folder.join(NAME), "mode=ro")?, Some(copy))
            }
            (None, _) if is_logged => {
                alone = Some((path.to_path_buf(), facts(path)?));
                (connect(path, "mode=ro&immutable=1")?, None)
            }
            _ => (connect(path, "mode=ro")?, None),
        };
        let name = path.file_name().unwrap_or_default();
        let database = Database {
            connection,
            name: name.to_string_lossy().into_owned(),
            _copy: copy,
            alone,
            lacks_its_log,
        };
        // While nobody writes to it; of what a log holds the file may be no end yet.
        if !is_logged || lacks_its_log {
            database.at_once(|| database.tables().and_then(|_| is_whole(path)))?;
        }
        Ok(database)
    }

    /// The file's name, without its folder.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is written through a log and none lies beside it: all is in the file when the program that wrote it
    /// has ended, and else the newest is missing.
    pub fn lacks_its_log(&self) -> bool {
        self.lacks_its_log
    }

    /// Reads several times from the database as it is at one moment. Not longer: a program that wants to write waits.
    pub fn at_once<T>(&self, read: impl FnOnce() -> Result<T>) -> Result<T> {
        self.connection.execute_batch("BEGIN").map_err(failed)?;
        let found = read();
        self.connection.execute_batch("ROLLBACK").map_err(failed)?;
        found
    }

    /// Refuses what was read without a lock while a program began to write.
    pub fn is_as_it_was(&self) -> Result<()> {
        let Some((path, before)) = &self.alone else {
            return Ok(());
        };
        if facts(path)? == *before && beside(path, LOG).is_none() {
            return Ok(());
        }
        Err(changed())
    }

    /// The names of the tables.
    pub fn tables(&self) -> Result<Vec<String>> {
        self.all(
            "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name",
            &[],
            |row| row.get(0),
        )
    }

    /// The names of a table's columns; none when there is no such table.
    pub fn columns(&self, table: &str) -> Result<Vec<String>> {
        self.all("SELECT name FROM pragma_table_info(?1)", &[table], |row| {
            row.get(0)
        })
    }

    /// Where the rows of a table are found by one of its columns, without a look at all of them each time: what stands
    /// behind FROM, the table being `t`, and the column there. Where the table has no index, one is made in memory or
    /// in a file that has no name, and which ends with the connection.
    pub fn by(&self, table: &str, column: &str) -> Result<(String, String)> {
        let known = "SELECT 1 FROM pragma_index_list(?1) l, pragma_index_info(l.name) i \
                     WHERE i.seqno = 0 AND lower(i.name) = lower(?2) AND l.partial = 0 LIMIT 1";
        if self.first(known, &[table, column], |_| Ok(()))?.is_some() {
            return Ok((format!("{} t", quoted(table)), format!("t.{}", quoted(column))));
        }
        let (of, made) = (quoted(table), quoted(&format!("{table} by {column}")));
        let column = quoted(column);
        let make = format!(
            "CREATE TEMP TABLE IF NOT EXISTS {made} AS SELECT {column} AS key, rowid AS at FROM main.{of};
             CREATE INDEX IF NOT EXISTS temp.{index} ON {made} (key, at);",
            index = quoted(&format!("index of {made}")),
        );
        self.connection.execute_batch(&make).map_err(failed)?;
        let from = format!("temp.{made} f CROSS JOIN main.{of} t ON t.rowid = f.at");
        Ok((from, "f.key".to_string()))
    }

    /// The first row of a query.
    pub fn first<T>(
        &self,
        query: &str,
        values: &[&str],
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        Ok(self.all(query, values, read)?.into_iter().next())
    }

    /// Every row of a query.
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
        rows().map_err(failed)
    }
}

/// The bytes of a column, be it text or not; none when there is nothing.
pub fn bytes(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Vec<u8>>> {
    let value = row.get_ref(column)?;
    Ok(value.as_bytes_or_null()?.map(<[u8]>::to_vec))
}

/// The text of a column, damaged characters replaced; none when there is nothing.
pub fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<String>> {
    Ok(bytes(row, column)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// A name in a query.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A number of a column; none when there is none.
pub fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<i64>> {
    Ok(row.get_ref(column)?.as_i64_or_null().unwrap_or_default())
}

/// A time of a table, which is UTC and does not say so; none when it is none.
pub fn utc(text: &str) -> Option<String> {
    let named = text.ends_with('Z') || text.get(19..).is_some_and(|rest| rest.contains(['+', '-']));
    let time = text.replacen(' ', "T", 1);
    let time = if named { time } else { format!("{time}Z") };
    time::is_rfc3339(&time).then_some(time)
}

/// Ending of the write-ahead log.
const LOG: &str = "-wal";

/// The file beside another whose name has this ending more, unless it is empty.
fn beside(path: &Path, ending: &str) -> Option<PathBuf> {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    Some(PathBuf::from(name)).filter(|path| fs::metadata(path).is_ok_and(|about| about.len() > 0))
}

fn facts(path: &Path) -> Result<Facts> {
    let about = fs::metadata(path).map_err(|error| Error::io("cannot read", error))?;
    Ok((about.len(), about.modified().ok()))
}

/// Refuses what is no database, in words of our own.
fn check(path: &Path) -> Result<()> {
    let about = fs::metadata(path).map_err(|error| Error::io("cannot open", error))?;
    if !about.is_file() {
        return Err(Error::new(Kind::Unsafe, "not a regular file"));
    }
    let mut head = Vec::new();
    let file = fs::File::open(path).map_err(|error| Error::io("cannot open", error))?;
    file.take(MAGIC.len() as u64)
        .read_to_end(&mut head)
        .map_err(|error| Error::io("cannot read", error))?;
    if head != MAGIC {
        return Err(Error::new(Kind::Data, "not an SQLite database"));
    }
    Ok(())
}

/// The beginning of a file.
const HEADER: u64 = 100;

/// The byte of it that says how changes are written, and its value for a write-ahead log. Source: "Database File
/// Format", sqlite.org, 1.3.
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

/// Refuses a file whose end is missing: SQLite reads on in it, and finds less than there was. Source: as above, 1.3.2,
/// 1.3.7 and 1.3.8: the count of pages is true while the counter of changes is the one that it was written at.
fn is_whole(path: &Path) -> Result<()> {
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
    let error = Error::new(Kind::Data, format!("truncated: {there} of {whole} bytes"));
    Err(error.hint("recover the rest with: sqlite3 FILE .recover"))
}

fn connect(path: &Path, how: &str) -> Result<Connection> {
    // As a URI, so that the way of reading can be said; every byte of the path that means something there is escaped.
    let mut uri = String::from("file:");
    for byte in fs::canonicalize(path)
        .map_err(|error| Error::io("cannot open", error))?
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
    connection.busy_timeout(PATIENCE).map_err(failed)?;
    connection
        .set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)
        .map_err(failed)?;
    // What its author wrote into it is data: no function of a view runs.
    connection
        .pragma_update(None, "trusted_schema", false)
        .map_err(failed)?;
    Ok(connection)
}

/// A reader next to the programs that have a database open. The index of the log is only read: a reader needs nothing but
/// locks of it, unless no program has left a mark there by which a reader holds its place.
fn reader(path: &Path) -> Result<Connection> {
    let connection = connect(path, "mode=ro&readonly_shm=1")?;
    connection
        .query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))
        .map_err(failed)?;
    Ok(connection)
}

/// The error of this library for one of SQLite.
pub fn failed(error: rusqlite::Error) -> Error {
    let kind = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Kind::Locked,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::TypeMismatch) => Kind::Data,
        Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            Kind::InputOutput
        }
        Some(ErrorCode::ReadOnly) => {
            let error = Error::new(Kind::Locked, "an interrupted transaction would have to be undone");
            return error.hint("copy it with the files next to it, and open the copy with its program");
        }
        Some(ErrorCode::TooBig) => {
            let what = format!("a value is longer than {} MiB", LONGEST >> 20);
            return Error::new(Kind::Data, what)
                .hint("find the value with: sqlite3 FILE, and max(length(COLUMN)) of each column");
        }
        _ => Kind::Data,
    };
    let told = Error::new(kind, format!("the database: {error}"));
    match kind {
        Kind::Locked => told.hint("another program is writing; run the command again"),
        _ => told,
    }
}

/// The error of a database that changed.
fn changed() -> Error {
    let error = Error::new(Kind::Locked, "modified by another program while it was read");
    error.hint("the output may be inconsistent; run the command again")
}

/// A copy in a folder of its own, which goes when it is dropped.
struct Copied {
    folder: PathBuf,
}

const NAME: &str = "copy.db";

impl Copied {
    fn of(path: &Path, log: &Path) -> Result<Copied> {
        let failed =
            |error| Error::io("cannot copy the database to read its log", error).kind(Kind::InputOutput);
        let copied = Copied {
            folder: fresh().map_err(failed)?,
        };
        // A log that is moved into the file meanwhile is read once more.
        for _ in 0..2 {
            let before = (facts(path)?, facts(log)?);
            fs::copy(path, copied.folder.join(NAME)).map_err(failed)?;
            fs::copy(log, copied.folder.join(format!("{NAME}-wal"))).map_err(failed)?;
            if (facts(path)?, facts(log)?) == before {
                return Ok(copied);
            }
        }
        Err(changed())
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A folder that nobody else can look into.
fn fresh() -> io::Result<PathBuf> {
    let mut nth = 0;
    loop {
        let folder = std::env::temp_dir().join(format!("convo-sqlite-{}-{nth}", std::process::id()));
        match fs::DirBuilder::new().mode(0o700).create(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && nth < 1000 => nth += 1,
            made => return made.map(|()| folder),
        }
    }
}
