//! Shortens paths, so that each file has one name in a summary.

use std::borrow::Cow;

/// A path, relative to this directory if it is inside; otherwise relative to `~` if it is in the home directory that contains
/// this one.
pub(in crate::filter) fn near<'p>(place: Option<&str>, path: &'p str) -> Cow<'p, str> {
    let Some(place) = place else {
        return Cow::Borrowed(path);
    };
    if let Some(inside) = inside(place, path) {
        return Cow::Borrowed(inside);
    }
    let home = home_of(place);
    let inside_home = home.and_then(|home| inside(home, path).map(|rest| Cow::Owned(format!("~/{rest}"))));
    inside_home.unwrap_or_else(|| {
        let place = home.and_then(|home| place.strip_prefix(home));
        let rest = path.strip_prefix('~');
        let near = place.zip(rest).and_then(|(place, rest)| inside(place, rest));
        Cow::Borrowed(near.unwrap_or(path))
    })
}

/// The part of a path in a directory.
fn inside<'p>(directory: &str, path: &'p str) -> Option<&'p str> {
    path.strip_prefix(directory)?.strip_prefix('/')
}

/// The home directory that contains a path, by the usual places of these.
fn home_of(path: &str) -> Option<&str> {
    let name = ["/home/", "/Users/"]
        .iter()
        .find_map(|place| path.strip_prefix(place))?;
    let after = name.find('/').unwrap_or(name.len());
    Some(&path[..path.len() - name.len() + after])
}

#[cfg(test)]
mod tests {
    use super::near;

    #[test]
    fn a_file_has_one_name() {
        for (path, expected) in [
            ("/home/mia/shed/src/a.rs", "src/a.rs"),
            ("~/shed/src/a.rs", "src/a.rs"),
            ("src/a.rs", "src/a.rs"),
            ("/home/mia/.config/b", "~/.config/b"),
            ("~/.config/b", "~/.config/b"),
            ("/home/miah/c", "/home/miah/c"),
            ("/home/mia/sheds/d", "~/sheds/d"),
            ("/etc/e", "/etc/e"),
        ] {
            assert_eq!(near(Some("/home/mia/shed"), path), expected);
        }
        assert_eq!(near(Some("/home/mia"), "~/f"), "f");
        assert_eq!(near(Some("/repo"), "/home/mia/f"), "/home/mia/f");
        assert_eq!(near(None, "/home/mia/f"), "/home/mia/f");
    }
}
