//! Checks the invariants that must hold after any fault in any command.

use super::golden::{Golden, Reading, lost, reading};
use super::log::{self, Seal};
use super::place::{HUNG, Outcome, Place, State};
use super::scenario::Between;
use super::trace;

/// Selects the injection for a call that the simulated file system does not support.
pub type Lacking = fn(&trace::Call) -> Option<String>;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It exited; its status reports success or failure.
    Ended,
    /// Killed between two system calls.
    Killed,
    /// Killed during a write.
    Cut,
    /// Power was lost before the change was acknowledged.
    Dark,
    /// Power was lost after the change was acknowledged.
    DarkAfter,
}

/// The state that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Old,
    New,
    /// An intermediate state that the operation allows, with this many new lines.
    Between(usize),
    /// Old lines, new ones, and a partial line.
    Torn,
    /// New except for an id: with a seed the id depends on a length that could not be read.
    Alike,
}

impl Golden {
    /// Judges the result of a run. `mute`: the fault may have suppressed its messages.
    pub fn judge(
        &self,
        place: &Place,
        outcome: Option<&Outcome>,
        ending: Ending,
        mute: bool,
    ) -> Result<(), String> {
        self.judge_there(place, outcome, ending, mute, None)
    }

    /// The same on a file system that does not support the calls selected by an injection.
    pub fn judge_there(
        &self,
        place: &Place,
        outcome: Option<&Outcome>,
        ending: Ending,
        mute: bool,
        without: Option<Lacking>,
    ) -> Result<(), String> {
        let now = place.state();
        let found = self.found(place, &now, ending)?;
        if let Some(outcome) = outcome {
            self.truth(found, &now, outcome, ending, mute)
                .map_err(|why| format!("{why}\n{}", shown(outcome)))?;
        }
        if ending == Ending::DarkAfter && found != Found::New {
            return Err(format!(
                "status 0 was reported, and {found:?} is there\n{}",
                self.difference(&now)
            ));
        }
        self.readable(place, found)?;
        let appended = place.copy();
        self.repeats(place, found, without)?;
        self.check_append(&appended, &now)
    }

    fn found(&self, place: &Place, now: &State, ending: Ending) -> Result<Found, String> {
        if now.files == self.new.files {
            return Ok(Found::New);
        }
        if now.files == self.old.files {
            return Ok(Found::Old);
        }
        let between = match (self.operation.between, ending) {
            (Between::Moved, Ending::Dark | Ending::DarkAfter) => Between::Files,
            (Between::Moved, _) => Between::Whole,
            (other, _) => other,
        };
        let wrong = |why: &str| Err(format!("{why}\n{}", self.difference(now)));
        if !self.operation.destroys
            && let Some(line) = lost(&self.old, now)
        {
            return wrong(&format!("lost: {}", String::from_utf8_lossy(line)));
        }
        match between {
            Between::Whole | Between::Moved => wrong("neither the old nor the new state"),
            Between::Appended | Between::Lines => {
                let torn = matches!(ending, Ending::Cut | Ending::Dark | Ending::DarkAfter);
                self.lines(now, between == Between::Lines, torn)
                    .map_or_else(|| wrong("not the old log with new lines"), Ok)
            }
            Between::Report => {
                let bytes = now.files.get(self.operation.brings.0);
                let text = String::from_utf8_lossy(bytes.map_or(&[], Vec::as_slice));
                match text.contains("<error") && text.ends_with("</testsuites>\n") {
                    true => Ok(Found::Old),
                    false => wrong("neither the old nor the new state, nor a report of the failure"),
                }
            }
            Between::Kept => match self.kept(place, now) {
                None if self.archived(place, now).is_none() => Ok(Found::New),
                None => Ok(Found::Between(0)),
                Some(why) => wrong(&why),
            },
            Between::View => match self.shown.contains(&super::golden::shown(place)) {
                true => Ok(Found::Between(0)),
                false => wrong("another view"),
            },
            Between::Books => {
                let path = self.operation.brings.0;
                let (old, new) = (&self.old.files[path], &self.new.files[path]);
                let log = now.files.get(path).map(Vec::as_slice).unwrap_or_default();
                let torn = matches!(ending, Ending::Cut | Ending::Dark) && log.starts_with(old);
                let same = |path: &&String| !path.ends_with(".meta.json") && *path != self.operation.brings.0;
                let others = now.files.iter().filter(|(path, _)| same(path));
                let is_old = |(path, bytes): (&String, &Vec<u8>)| self.old.files.get(path) == Some(bytes);
                if !others.clone().all(is_old) {
                    return wrong("another file changed");
                }
                match () {
                    _ if log == new.as_slice() => Ok(Found::New),
                    _ if log == old.as_slice() => Ok(Found::Between(0)),
                    _ if torn => Ok(Found::Torn),
                    _ => wrong("the log is neither old nor new"),
                }
            }
            Between::Steps => {
                let torn = matches!(ending, Ending::Cut | Ending::Dark | Ending::DarkAfter);
                let mut paths = now
                    .files
                    .keys()
                    .chain(self.old.files.keys())
                    .chain(self.new.files.keys());
                let (mut is_torn, mut is_alike) = (false, false);
                let mut fits = |path: &String| {
                    let (there, new) = (now.files.get(path), self.new.files.get(path));
                    if there == self.old.files.get(path) || there == new {
                        return true;
                    }
                    let (Some(there), Some(new)) = (there, new) else {
                        return false;
                    };
                    if new.starts_with(there) && there.ends_with(b"\n") {
                        return true;
                    }
                    let same = there
                        .iter()
                        .zip(new)
                        .take_while(|(one, other)| one == other)
                        .count();
                    let last = there[..same].iter().rposition(|byte| *byte == b'\n');
                    let after = last.map_or(0, |newline| newline + 1);
                    is_alike |= alike(&there[after..], &new[after..]);
                    is_torn |= !is_alike;
                    is_alike || torn
                };
                match paths.find(|path| !fits(path)) {
                    None if is_torn => Ok(Found::Torn),
                    None if is_alike => Ok(Found::Alike),
                    None => Ok(Found::Between(0)),
                    Some(path) => wrong(&format!("{path} is neither old nor the beginning of the new one")),
                }
            }
            // The next run completes it: see `repeats`.
            Between::Parts => Ok(Found::Between(0)),
            Between::Files | Between::Each | Between::Copied => {
                let mut paths = now
                    .files
                    .keys()
                    .chain(self.old.files.keys())
                    .chain(self.new.files.keys());
                // After a power cut, a new manifest may be shorter than its name promises: readers ignore a partial
                // line, and the next run writes the rest.
                let torn = between == Between::Copied && ending == Ending::Dark;
                let fits = |path: &String| {
                    let (there, new) = (now.files.get(path), self.new.files.get(path));
                    let is_part = || new.zip(there).is_some_and(|(new, there)| new.starts_with(there));
                    there == self.old.files.get(path)
                        || there == new
                        || (torn && path.ends_with("/manifest.jsonl") && is_part())
                };
                match paths.find(|path| !fits(path)) {
                    None => Ok(Found::Between(0)),
                    Some(path) => wrong(&format!("{path} is neither old nor new")),
                }
            }
        }
    }

    /// Describes what is wrong with an archive; none if nothing is.
    fn kept(&self, place: &Place, now: &State) -> Option<String> {
        for (path, old) in self.old.files.iter() {
            let there = now.files.get(path);
            let is_manifest = path.ends_with("manifest.jsonl");
            let is_fine = match path.starts_with("work/kept/") {
                true if is_manifest => there.is_some_and(|now| now.starts_with(old)),
                // A copy has at least the bytes that the manifest lists, and is only replaced by a longer one.
                true => there.map_or(!self.new.files.contains_key(path), |now| now.starts_with(old)),
                false => there == Some(old),
            };
            if !is_fine {
                return Some(format!("{path} is not what it was"));
            }
        }
        let outcome = place.copy().convo(&["archive", "--to", "kept", "--verify"]);
        let rows = String::from_utf8_lossy(&outcome.stdout).into_owned();
        let is_fine = [0, 1, 66].contains(&outcome.status) && !rows.contains("damaged");
        (!is_fine).then(|| format!("--verify: {}", shown(&outcome)))
    }

    /// Describes what an archive lacks after the command was repeated; none if nothing.
    fn archived(&self, place: &Place, now: &State) -> Option<String> {
        let outcome = place.convo(&["archive", "--to", "kept", "--verify"]);
        if outcome.status != 0 {
            return Some(shown(&outcome));
        }
        let copies = |state: &State| {
            let mut files = state.files.clone();
            files.retain(|path, _| !path.ends_with("manifest.jsonl"));
            files
        };
        let (now, new) = (copies(now), copies(&self.new));
        // A replaced copy may still exist.
        let lacks = new.iter().any(|(path, bytes)| now.get(path) != Some(bytes));
        lacks.then(|| "other copies".to_string())
    }

    /// The old log with some of the new lines, and if allowed with a partial line after them.
    fn lines(&self, now: &State, several: bool, torn: bool) -> Option<Found> {
        let path = self.operation.brings.0;
        let mut same = now.clone();
        let log = same.files.remove(path)?;
        let mut old = self.old.clone();
        let before = old.files.remove(path)?;
        let tail = log.strip_prefix(before.as_slice())?;
        let new = self.new.files[path].strip_prefix(before.as_slice())?;
        if same.files != old.files {
            return None;
        }
        let whole = tail
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |newline| newline + 1);
        let count = tail[..whole].split_inclusive(|byte| *byte == b'\n').count();
        if several && new.starts_with(tail) && whole == tail.len() {
            return Some(Found::Between(count));
        }
        if alike(tail, new) {
            return Some(Found::Alike);
        }
        torn.then_some(Found::Torn)
    }

    /// Checks that status and messages match the actual state.
    fn truth(
        &self,
        found: Found,
        now: &State,
        outcome: &Outcome,
        ending: Ending,
        mute: bool,
    ) -> Result<(), String> {
        let status = outcome.status;
        if status == HUNG {
            return Err("it hung".to_string());
        }
        if outcome.stderr.contains("panicked") || status == 101 {
            return Err("it panicked".to_string());
        }
        if status < 0 {
            return match ending {
                Ending::Ended => Err(format!("it died of signal {}", -status)),
                _ => Ok(()),
            };
        }
        let words = outcome
            .stderr
            .lines()
            .any(|line| line.starts_with("convo: ") && line.len() > 12);
        if status != 0 && !words && !mute {
            return Err("an error without words".to_string());
        }
        match (status, found) {
            (status, Found::New | Found::Alike) if status == self.operation.status => Ok(()),
            (74..=77, Found::Old) | (76, _) => Ok(()),
            // The view is unchanged, and a repeated run completes the change.
            (74 | 75 | 77, Found::Between(_) | Found::New) if self.operation.between == Between::Kept => {
                Ok(())
            }
            (74 | 75 | 77, Found::Between(_))
                if matches!(self.operation.between, Between::View | Between::Steps) =>
            {
                Ok(())
            }
            (74 | 75 | 77, Found::Between(_))
                if self.operation.between == Between::Copied && self.is_copied(now) =>
            {
                Ok(())
            }
            (74 | 75, Found::Between(count)) if self.operation.between == Between::Lines => {
                let reported = outcome.stderr.contains(&format!("acknowledged {count}\n"));
                if reported || mute {
                    Ok(())
                } else {
                    Err(format!("{count} lines are there"))
                }
            }
            (74 | 75 | 77, Found::Between(_) | Found::New) if self.operation.between == Between::Each => {
                self.report(now, &outcome.stdout)
            }
            _ => Err(format!(
                "status {status}, and {found:?} is there\n{}",
                self.difference(now)
            )),
        }
    }

    /// Whether only the archive has grown.
    fn is_copied(&self, now: &State) -> bool {
        let is_old = |(path, bytes): (&String, &Vec<u8>)| {
            path.starts_with("home/.local/share/convo-archive/") || self.old.files.get(path) == Some(bytes)
        };
        now.files.iter().all(is_old) && self.old.files.keys().all(|path| now.files.contains_key(path))
    }

    /// Checks that each row of a file report is true.
    fn report(&self, now: &State, report: &[u8]) -> Result<(), String> {
        for row in String::from_utf8_lossy(report).lines() {
            let cells: Vec<&str> = row.split('\t').collect();
            let [word, _, id, _] = cells[..] else { continue };
            let there = ["store/sessions", "work/native"].iter().any(|dir| {
                let path = format!("{dir}/{id}.jsonl");
                now.files.contains_key(&path) && now.files.get(&path) == self.new.files.get(&path)
            });
            if there != ["migrated", "updated"].contains(&word) {
                return Err(format!("it tells: {row}, and there it is: {there}"));
            }
        }
        Ok(())
    }

    /// Checks that the session can be read, with damage reported only if there is some.
    fn readable(&self, place: &Place, found: Found) -> Result<(), String> {
        let now = reading(self.operation, place);
        match found {
            Found::Old | Found::New => {
                let expected = &self.readings[usize::from(found == Found::New)];
                if now == *expected {
                    return Ok(());
                }
                let reported = |reading: &Option<Reading>| {
                    reading
                        .as_ref()
                        .map(|(status, bytes)| (*status, String::from_utf8_lossy(bytes).into_owned()))
                };
                Err(format!(
                    "cat gives {:?} and not {:?}",
                    reported(&now),
                    reported(expected)
                ))
            }
            Found::Between(_) | Found::Alike => match now {
                Some((65, _)) if matches!(self.readings[0], Some((65, _))) => Ok(()),
                None | Some((0, _)) => Ok(()),
                Some((status, _)) => Err(format!("cat ends with {status}")),
            },
            Found::Torn => {
                let Some(id) = self.operation.session else {
                    return Ok(());
                };
                let log = std::fs::read(place.log(id)).unwrap();
                let lines = log::lines(&log);
                let outcome = place.convo(&["cat", id]);
                let damaged = lines.iter().position(|line| !log::is_good(line));
                match damaged {
                    None if outcome.status == 0 => Ok(()),
                    Some(at) if outcome.status == 65 => {
                        let place = format!("convo: {id}:{}:", at + 1);
                        if outcome.stderr.contains(&place) {
                            Ok(())
                        } else {
                            Err(format!("damage in line {}\n{}", at + 1, shown(&outcome)))
                        }
                    }
                    _ => Err(format!("cat: damage in {damaged:?}\n{}", shown(&outcome))),
                }
            }
        }
    }

    /// Checks that the same command completes the change and leaves no temporary files.
    fn repeats(&self, place: &Place, found: Found, without: Option<Lacking>) -> Result<(), String> {
        let lacks = without.filter(|_| found == Found::Old).and_then(|lacking| {
            let (_, calls) = trace::run_with(&place.copy(), self.operation, &[]);
            calls.iter().find_map(lacking)
        });
        let outcome = match lacks {
            Some(injection) => trace::run_with(place, self.operation, &[injection]).0,
            None => place.fed(self.operation.arguments, self.operation.input.as_bytes()),
        };
        let now = place.state();
        // A committed change need not be started again.
        let is_parts = self.operation.between == Between::Parts;
        let done = found != Found::Old || is_parts;
        let reported = found == Found::Torn && outcome.status == 65;
        let ended = outcome.status == self.operation.status;
        if !(ended || reported || done && self.operation.again.contains(&outcome.status)) {
            return Err(format!("the same again after {found:?}:\n{}", shown(&outcome)));
        }
        if self.operation.between == Between::Kept {
            return match self.archived(place, &now) {
                None if now.leftovers.is_empty() => Ok(()),
                why => Err(format!(
                    "after the same again: {why:?}, {:?}\n{}",
                    now.leftovers,
                    self.difference(&now)
                )),
            };
        }
        // A repeated stream is a new stream.
        let is_resumable = match self.operation.between {
            Between::Files | Between::Each | Between::Copied | Between::Parts => true,
            Between::Steps => self.operation.input.is_empty(),
            _ => false,
        };
        let finishes = found == Found::Old || matches!(found, Found::Between(_)) && is_resumable;
        if !(ended || is_parts) || !finishes {
            return Ok(());
        }
        if now.files != self.new.files {
            return Err(format!(
                "the same again is not the new state\n{}",
                self.difference(&now)
            ));
        }
        // A run that finds everything done writes nothing and removes no temporary files.
        let wrote = found == Found::Old || self.operation.between != Between::Each;
        if wrote && !now.leftovers.is_empty() {
            return Err(format!("after the same again there is still {:?}", now.leftovers));
        }
        Ok(())
    }

    /// Checks that the next append works, is readable, and leaves all other bytes unchanged.
    fn check_append(&self, place: &Place, now: &State) -> Result<(), String> {
        let Some(id) = self.operation.session.filter(|id| place.log(id).exists()) else {
            return Ok(());
        };
        let before = &now.files[&format!("store/sessions/{id}.jsonl")];
        let damaged = log::lines(before).iter().any(|(line, seal)| {
            *seal == Seal::Wrong || serde_json::from_slice::<serde_json::Value>(line).is_err()
        });
        appends(place, id, before, if damaged { 65 } else { 0 })
    }

    /// Lists files that have neither their old nor their new content.
    fn difference(&self, now: &State) -> String {
        let mut reported = Vec::new();
        for path in now
            .files
            .keys()
            .chain(self.old.files.keys())
            .chain(self.new.files.keys())
        {
            let (old, new) = (self.old.files.get(path), self.new.files.get(path));
            let is = now.files.get(path);
            if old != new || is != old {
                let length = |bytes: Option<&Vec<u8>>| {
                    bytes.map_or("none".to_string(), |bytes| bytes.len().to_string())
                };
                let which = match (is == old, is == new) {
                    (true, _) => "old",
                    (_, true) => "new",
                    _ => "neither",
                };
                reported.push(format!(
                    "{path}: {which} (bytes: old {}, new {}, now {})",
                    length(old),
                    length(new),
                    length(is)
                ));
            }
        }
        reported.sort();
        reported.dedup();
        reported.join("\n")
    }
}

/// Appends to a session whose log has these bytes, and verifies the new line independently. `status` is the expected
/// status of a later read.
pub fn appends(place: &Place, id: &str, before: &[u8], status: i32) -> Result<(), String> {
    let outcome = place.convo(&["append", id, "after the fault"]);
    if outcome.status != 0 {
        return Err(format!("the next append:\n{}", shown(&outcome)));
    }
    let log = std::fs::read(place.log(id)).unwrap();
    let Some(tail) = log.strip_prefix(before) else {
        return Err("the next append changed bytes that were there".to_string());
    };
    let torn = before.last().is_some_and(|last| *last != b'\n');
    let tail = if torn {
        tail.strip_prefix(b"\n")
    } else {
        Some(tail)
    };
    let one_line =
        |tail: &[u8]| tail.iter().filter(|byte| **byte == b'\n').count() == 1 && tail.ends_with(b"\n");
    let lines = log::lines(&log);
    let last = lines.last().ok_or("no line")?;
    let text = String::from_utf8_lossy(last.0).contains("\"after the fault\"");
    if !tail.is_some_and(one_line) || !text || !log::is_good(last) {
        return Err(format!(
            "the next append wrote {:?}",
            String::from_utf8_lossy(tail.unwrap_or(&log))
        ));
    }
    let outcome = place.convo(&["cat", id]);
    let text = String::from_utf8_lossy(&outcome.stdout).contains("\"after the fault\"");
    if outcome.status != status || !text {
        return Err(format!("after the next append cat gives\n{}", shown(&outcome)));
    }
    Ok(())
}

/// Formats a run for a finding.
pub fn shown(outcome: &Outcome) -> String {
    let out: String = String::from_utf8_lossy(&outcome.stdout)
        .chars()
        .take(300)
        .collect();
    let err: String = outcome.stderr.chars().take(600).collect();
    format!("status {}; stdout {out:?}; stderr {err:?}", outcome.status)
}

/// Whether two parts of a log are one valid line each, equal except for id and checksum.
fn alike(one: &[u8], other: &[u8]) -> bool {
    let bare = |line: &[u8]| {
        let mut members: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(line).ok()?;
        members.remove("_crc");
        members.remove("id").map(|_| members)
    };
    let same = bare(one);
    same.is_some() && same == bare(other) && one.ends_with(b"\n")
}
