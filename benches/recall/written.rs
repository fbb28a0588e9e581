//! Dialogues that were written for this comparison: `NAME.txt` has the sessions, `NAME.tsv` on each line a question, the turns with
//! its answer, and the answer. See `dialogues/README.md` for what they were used for.

use super::dialogue::{Dialogue, Turn};
use convo::model::message::Role;
use std::collections::HashMap;
use std::path::Path;

/// The dialogues of a folder, by name.
pub fn read(folder: &str) -> Result<Vec<Dialogue>, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("benches/recall/dialogues")
        .join(folder);
    let text = |path: &Path| std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()));
    let entries = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    paths.sort();
    paths
        .iter()
        .map(|path| {
            let questions = text(&path.with_extension("tsv"))?;
            dialogue(&text(path)?, &questions).map_err(|wrong| format!("{}: {wrong}", path.display()))
        })
        .collect()
}

fn dialogue(sessions: &str, questions: &str) -> Result<Dialogue, String> {
    let (mut turns, mut session, mut number, mut time) = (Vec::new(), 0, 0, String::new());
    let mut user = None;
    for line in sessions.lines().filter(|line| !line.trim().is_empty()) {
        if let Some(date) = line.strip_prefix("## ") {
            (session, number) = (session + 1, 0);
            time = format!("{}:00Z", date.trim().replace(' ', "T"));
            continue;
        }
        let (speaker, text) = line
            .split_once(':')
            .ok_or_else(|| format!("no speaker: {line}"))?;
        number += 1;
        let role = match *user.get_or_insert(speaker) == speaker {
            true => Role::User,
            false => Role::Assistant,
        };
        let id = format!("{session}:{number}");
        turns.push(Turn::new(
            id,
            role,
            speaker,
            text.trim().to_string(),
            time.clone(),
        ));
    }
    let index: HashMap<&str, usize> = turns
        .iter()
        .enumerate()
        .map(|(at, turn)| (turn.id.as_str(), at))
        .collect();
    let evidence = |line: &str| -> Option<Vec<usize>> {
        let ids = line.split('\t').nth(1)?.split(',');
        ids.map(|id| index.get(id.trim()).copied()).collect()
    };
    let questions = questions
        .lines()
        .map(|line| evidence(line).ok_or_else(|| format!("no such turn: {line}")))
        .collect::<Result<_, _>>()?;
    Ok(Dialogue { turns, questions })
}
