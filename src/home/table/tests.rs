//! Tests of the table of programs.

use super::*;

#[test]
fn names_are_different_and_every_program_has_places_and_files() {
    let names: Vec<&str> = PROGRAMS
        .iter()
        .flat_map(|program| [Some(program.name), program.short].into_iter().flatten())
        .collect();
    for (nth, name) in names.iter().enumerate() {
        assert!(!names[..nth].contains(name), "{name}");
        assert!(program(name).is_some());
    }
    let is_found = |program: &HomeProgram| !program.places.is_empty() && !program.layout.is_empty();
    assert!(PROGRAMS.iter().all(is_found));
}
