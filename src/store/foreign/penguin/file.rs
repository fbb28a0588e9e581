//! Changes a session document in place: unchanged parts are copied byte for byte, and the old document becomes the
//! new `.bak`, from which Penguin restores.

use crate::error::{Error, Result};
use crate::format::compression::{self, Wrapped};
use crate::format::penguin::{self, Condition, WriteOptions};
use crate::format::report::Report;
use crate::format::{self, DocumentSource, Format, WritePurpose, WriteTarget, detect};
use crate::model::json;
use crate::model::session::Session;
use crate::model::view::View;
use crate::store::foreign::session_file::{FileChange, FileChanged, FileOptions, SessionFile};
use crate::store::{FileStat, Rewrite, sync_directory_names, write_atomically};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Suffixes of Penguin's backups and temporary files.
pub const COPY: &str = ".bak";

pub const UNFINISHED: &str = ".temp";

/// A parsed document.
struct Document<'o> {
    path: &'o Path,
    options: &'o FileOptions<'o>,
    bytes: Vec<u8>,
    facts: FileStat,
    /// Whether Penguin's own parser accepts it.
    whole: bool,
}

pub fn open<'o>(path: &'o Path, options: &'o FileOptions<'o>) -> Result<Option<Box<dyn SessionFile + 'o>>> {
    if options.to.is_some_and(|to| to != Format::Penguin) || options.dry_run {
        return Ok(None);
    }
    let (mut bytes, facts) = read(path)?;
    if compression::is_likely(&bytes[..bytes.len().min(detect::HEAD)]) {
        bytes = match Wrapped::of(bytes)? {
            Ok(wrapped) => return refuse_checkpoint(wrapped.inner()).map(|()| None),
            Err(plain) => plain,
        };
    }
    refuse_checkpoint(&bytes)?;
    let whole = check(path, &bytes, options.backup)?;
    Ok(Some(Box::new(Document {
        path,
        options,
        bytes,
        facts,
        whole,
    })))
}

impl SessionFile for Document<'_> {
    fn has_ids(&self) -> bool {
        true
    }

    fn session(&mut self, _append_only: bool, report: &mut Report) -> Result<Session> {
        report.target = Some(Format::Penguin.name());
        let source = DocumentSource {
            name: self.path.file_name().and_then(|name| name.to_str()),
            bytes: &self.bytes,
            neighbor: self.options.neighbor,
        };
        let sessions = format::convert(Format::Penguin, &source, report);
        penguin::remove_irrelevant_notes(report);
        Ok(sessions?.into_iter().next().unwrap_or_default())
    }

    fn sync(&mut self) -> Result<()> {
        let directory = self.path.parent().filter(|parent| !parent.as_os_str().is_empty());
        sync_directory_names(directory.unwrap_or(Path::new(".")))
    }

    fn change(
        &mut self,
        mut session: Session,
        change: &FileChange<'_>,
        report: &mut Report,
    ) -> Result<FileChanged> {
        let before = session.len();
        change.lines.iter().for_each(|line| session.push_new(line));
        let view = View::replay(&session);
        for (index, what) in &view.dangling {
            report.damage(session.record(*index).place, what.clone());
        }
        let save = WriteOptions {
            now: Some(change.now),
            source: self.whole.then_some((self.bytes.as_slice(), before)),
        };
        let mut document = Vec::with_capacity(self.bytes.len());
        let mut losses = Report::default();
        let target = WriteTarget(WritePurpose::Return, &mut document, &mut losses);
        penguin::write(&session, &view, &save, target)?;
        let options = Rewrite {
            backup: self
                .options
                .backup
                .filter(|suffix| *suffix != COPY || !self.whole)
                .map(Into::into),
            previous: self.whole.then(|| COPY.into()),
            read: Some(self.facts),
            force: self.options.force,
            lock_timeout: self.options.lock_timeout,
            ..Rewrite::default()
        };
        write_atomically(
            self.path,
            |out| {
                out.write_all(&document)
                    .map_err(|error| Error::io("cannot write", error))
            },
            &options,
        )?;
        report.target = Some(Format::Penguin.name());
        report.findings.append(&mut losses.findings);
        report.losses = losses.losses;
        Ok(FileChanged::default())
    }
}

fn refuse_checkpoint(bytes: &[u8]) -> Result<()> {
    if !penguin::is_checkpoint(|name| json::member(bytes, name)) {
        return Ok(());
    }
    let error = Error::usage("Penguin checkpoints cannot be rewritten in place");
    Err(error.hint("convert the checkpoint first: convo cat FILE | convo cat --to penguin"))
}

fn read(path: &Path) -> Result<(Vec<u8>, FileStat)> {
    let failed = |error| Error::io("cannot read", error);
    let mut file = File::open(path).map_err(failed)?;
    let facts = FileStat::of(&file).map_err(failed)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(failed)?;
    Ok((bytes, facts))
}

/// Whether Penguin's own parser accepts the file. A file that it rejects is replaced only if a backup is kept.
fn check(path: &Path, bytes: &[u8], suffix: Option<&str>) -> Result<bool> {
    let source = DocumentSource {
        name: path.file_name().and_then(|name| name.to_str()),
        ..DocumentSource::alone(bytes)
    };
    match penguin::condition(&source) {
        Condition::Whole => Ok(true),
        Condition::Older => {
            let what = "older Penguin conversations cannot be rewritten in place";
            Err(Error::usage(what).hint("convert the conversation first: convo cat --to penguin -o FILE"))
        }
        Condition::Damaged if suffix.is_none() => {
            let what = "damaged; the rewrite would lose the damaged bytes";
            Err(Error::data(what).hint("keep a copy of the original with -i=.damaged"))
        }
        Condition::Damaged => Ok(false),
    }
}
