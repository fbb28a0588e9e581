//! Reads LoCoMo's file: conversations in sessions, and questions with the turns that answer them.

use super::dialogue::{Dialogue, Turn};
use super::generated;
use convo::model::message::Role;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::path::Path;

pub fn read(path: &Path) -> Result<Vec<Dialogue>, String> {
    let wrong = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
    let bytes = std::fs::read(path).map_err(|e| wrong(&e))?;
    let file: Value = serde_json::from_slice(&bytes).map_err(|e| wrong(&e))?;
    let samples = file
        .as_array()
        .ok_or_else(|| wrong(&"no list of conversations"))?;
    let dialogues: Option<Vec<_>> = samples.iter().map(dialogue).collect();
    dialogues.ok_or_else(|| wrong(&"a conversation without sessions or speakers"))
}

fn dialogue(sample: &Value) -> Option<Dialogue> {
    let conversation = sample["conversation"].as_object()?;
    let user = conversation.get("speaker_a")?.as_str()?;
    let number = |name: &str| name.strip_prefix("session_")?.parse::<u32>().ok();
    let mut sessions: Vec<(u32, &Value)> = conversation
        .iter()
        .filter_map(|(name, value)| Some((number(name)?, value)))
        .collect();
    sessions.sort_by_key(|(number, _)| *number);
    let mut turns = Vec::new();
    for (number, session) in sessions {
        let date = conversation.get(&format!("session_{number}_date_time"));
        let time = date.and_then(Value::as_str).and_then(time).unwrap_or_default();
        for turn in session.as_array().into_iter().flatten() {
            let speaker = turn["speaker"].as_str()?;
            let role = if speaker == user {
                Role::User
            } else {
                Role::Assistant
            };
            let mut text = turn["text"].as_str().unwrap_or_default().to_string();
            if let Some(caption) = turn["blip_caption"].as_str() {
                text.push_str(&format!(" [image: {caption}]"));
            }
            let id = ids(turn["dia_id"].as_str()?).pop()?;
            turns.push(Turn::new(id, role, speaker, text, time.clone()));
        }
    }
    let index: HashMap<&str, usize> = turns
        .iter()
        .enumerate()
        .map(|(at, turn)| (turn.id.as_str(), at))
        .collect();
    let mut questions = Vec::new();
    for question in sample["qa"].as_array().into_iter().flatten() {
        let mut evidence: Vec<usize> = ids(&question["evidence"].to_string())
            .iter()
            .filter_map(|id| index.get(id.as_str()).copied())
            .collect();
        evidence.sort_unstable();
        evidence.dedup();
        if !evidence.is_empty() {
            questions.push(evidence);
        }
    }
    Some(Dialogue { turns, questions })
}

/// Every id such as `D1:3` in a text, also in the forms `D:1:3` and `D1:03`.
fn ids(text: &str) -> Vec<String> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut found = Vec::new();
    for (at, _) in text.match_indices('D') {
        let rest = text[at + 1..].strip_prefix(':').unwrap_or(&text[at + 1..]);
        let Some((session, after)) = rest.split_at_checked(digits(rest)) else {
            continue;
        };
        let Some(turn) = after.strip_prefix(':') else {
            continue;
        };
        if let (Ok(session), Ok(turn)) = (session.parse::<u32>(), turn[..digits(turn)].parse::<u32>()) {
            found.push(format!("D{session}:{turn}"));
        }
    }
    found
}

/// Converts `1:56 pm on 8 May, 2023` to RFC 3339; only the day matters here.
fn time(text: &str) -> Option<String> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let (_, date) = text.split_once(" on ")?;
    let mut words = date.split_whitespace().map(|word| word.trim_end_matches(','));
    let day: u32 = words.next()?.parse().ok()?;
    let name = words.next()?;
    let month = MONTHS.iter().position(|month| name.starts_with(month))? + 1;
    let year: u32 = words.next()?.parse().ok()?;
    Some(format!("{year:04}-{month:02}-{day:02}T00:00:00Z"))
}

/// A small invented file in this format.
pub fn sample() -> String {
    let samples: Vec<Value> = (0..3)
        .map(|seed| {
            let dialogue = generated::dialogue(seed, 60);
            let mut conversation = Map::new();
            conversation.insert("speaker_a".into(), "Ines".into());
            conversation.insert("speaker_b".into(), "Tomas".into());
            for (number, session) in dialogue.turns.chunks(20).enumerate() {
                let number = number + 1;
                let turns: Vec<Value> = session
                    .iter()
                    .enumerate()
                    .map(|(at, turn)| {
                        json!({"speaker": if turn.role == Role::User { "Ines" } else { "Tomas" },
                            "dia_id": format!("D{number}:{}", at + 1), "text": turn.text})
                    })
                    .collect();
                conversation.insert(
                    format!("session_{number}_date_time"),
                    format!("1:56 pm on {number} May, 2026").into(),
                );
                conversation.insert(format!("session_{number}"), turns.into());
            }
            let qa: Vec<Value> = dialogue
                .questions
                .iter()
                .map(|evidence| {
                    let ids: Vec<String> = evidence
                        .iter()
                        .map(|turn| format!("D{}:{:02}", turn / 20 + 1, turn % 20 + 1))
                        .collect();
                    json!({"question": "?", "answer": "", "evidence": [ids.join("; ")], "category": 1})
                })
                .collect();
            json!({"sample_id": format!("invented-{seed}"), "conversation": conversation, "qa": qa})
        })
        .collect();
    serde_json::to_string_pretty(&samples).expect("values have a text")
}
