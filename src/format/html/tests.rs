//! Tests of pages with an HTML parser.

use super::{files, index, write_page};
use crate::format::output_names::DirFile;
use crate::format::page::PageOptions;
use crate::format::report::Report;
use crate::format::{Format, WritePurpose, WriteTarget, output_names};
use crate::model::session::Session;
use crate::model::view::View;
use html5gum::emitters::default::DefaultEmitter;
use html5gum::{Token, Tokenizer};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Allowed elements and their attributes.
const ALLOWED: [(&str, &str); 53] = [
    ("html", "lang"),
    ("head", ""),
    ("meta", "http-equiv content charset name"),
    ("link", "rel href"),
    ("title", ""),
    ("style", ""),
    ("script", ""),
    ("body", ""),
    ("header", ""),
    ("footer", ""),
    ("main", "id"),
    ("nav", "class aria-label"),
    ("section", "class aria-label"),
    ("article", "id class"),
    ("figure", ""),
    ("figcaption", ""),
    ("svg", "viewbox preserveaspectratio role aria-label"),
    ("path", "class d"),
    ("text", "x y text-anchor"),
    ("a", "class href rel tabindex dir"),
    ("h1", "dir"),
    ("h2", ""),
    ("h3", ""),
    ("h4", ""),
    ("h5", ""),
    ("h6", ""),
    ("ul", "class"),
    ("ol", "start"),
    ("li", ""),
    ("p", "class"),
    ("div", "class dir role tabindex aria-label"),
    ("span", "class"),
    ("b", "aria-current"),
    ("i", ""),
    ("em", "class"),
    ("strong", ""),
    ("small", ""),
    ("code", "class"),
    ("pre", "class dir"),
    ("ins", ""),
    ("del", ""),
    ("blockquote", ""),
    ("hr", ""),
    ("br", ""),
    ("img", "alt src"),
    ("time", "datetime"),
    ("details", "class id data-tool open"),
    ("summary", ""),
    ("table", ""),
    ("thead", ""),
    ("tr", "class"),
    ("th", "class"),
    ("td", "class dir"),
];

/// Elements without an end tag.
const VOID: [&str; 5] = ["meta", "link", "br", "hr", "img"];

/// Texts that try to run scripts, load resources or break out of their context.
const HOSTILE: [&str; 26] = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "[x](javascript:alert(1)) [y](java&#115;cript:alert(1)) [z](java\tscript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>) ![y](https://evil.example/beacon)",
    "<javascript:alert(1)> [r]\n\n[r]: javascript:alert(1)",
    "]]> --> <!-- <![CDATA[",
    "<details><summary>",
    "<table><tr><td>",
    "\"><b onclick=alert(1)>",
    "' onmouseover='alert(1)",
    "</title></style></head></svg></pre></article></main>",
    "a\u{202e}b\0c\u{7}d\u{1b}[31me\u{9b}f",
    "```\"><script>\nx\n```",
    "~~~js onclick=alert(1)\n</pre><script>\n~~~",
    "`</code><script>`",
    "<style>*{display:none}</style>",
    "<meta http-equiv=refresh content=0;url=http://evil.example>",
    "<base href=http://evil.example><form action=http://evil.example><input>",
    "<iframe srcdoc=x></iframe><object data=x><embed src=x>",
    "| a |\n|---|\n| <script>alert(1)</script> |",
    "# </h3><script>",
    "- <li onclick=x>\n1. </ol>",
    "&lt;script&gt; &#60;script&#62; &#x3c;b",
    "<textarea><plaintext><xmp><noscript>",
    "> <blockquote cite=javascript:x>\n> <a href=//evil.example>",
];

fn session(lines: &[Value]) -> Session {
    let mut session = Session::default();
    lines
        .iter()
        .for_each(|line| session.push_new(line.to_string().as_bytes()));
    session
}

/// A session as a single page.
fn page(session: &Session) -> String {
    let mut out = Vec::new();
    let view = View::replay(session);
    let target = WriteTarget(WritePurpose::Export, &mut out, &mut Report::default());
    write_page(session, &view, &PageOptions::default(), target).unwrap();
    String::from_utf8(out).unwrap()
}

/// The parsed content of a page.
#[derive(Debug, Default)]
struct Seen {
    ids: BTreeSet<String>,
    /// Addresses of links.
    links: Vec<String>,
    /// Texts of the body.
    text: String,
    /// Texts by the name and the class of the element around them.
    by_class: BTreeMap<String, Vec<String>>,
}

/// Parses a page, and fails on anything that pages must not have.
fn seen(page: &str) -> Seen {
    let mut seen = Seen::default();
    let mut open: Vec<(String, String)> = Vec::new();
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    for token in Tokenizer::new_with_emitter(page, emitter) {
        match token.unwrap() {
            Token::StartTag(tag) => {
                let name = text(&tag.name);
                let known = ALLOWED.iter().find(|(known, _)| *known == name);
                let allowed = known.unwrap_or_else(|| panic!("element {name}")).1;
                let mut class = name.clone();
                for (attribute, value) in &tag.attributes {
                    let (attribute, value) = (text(attribute), text(value));
                    assert!(
                        allowed.split(' ').any(|known| known == attribute),
                        "{name} {attribute}"
                    );
                    match attribute.as_str() {
                        "id" => assert!(seen.ids.insert(value.clone()), "{value} twice"),
                        "class" => class = format!("{name}.{value}"),
                        "href" if name == "a" => seen.links.push(value.clone()),
                        "src" => assert!(value.starts_with("data:image/"), "{value}"),
                        "http-equiv" => assert_eq!(value, "Content-Security-Policy"),
                        _ => {}
                    }
                }
                if name == "link" {
                    assert!(page.contains("<link rel=\"icon\" href=\"data:,\">"));
                }
                let is_closed = VOID.contains(&name.as_str()) || name == "path" && tag.self_closing;
                if !is_closed {
                    open.push((name, class));
                }
            }
            Token::EndTag(tag) => {
                let name = text(&tag.name);
                assert_eq!(open.pop().map(|(name, _)| name), Some(name));
            }
            Token::String(found) => {
                let found = text(&found);
                let is_code = open.iter().any(|(name, _)| name == "style" || name == "script");
                if !is_code {
                    for (_, class) in &open {
                        seen.by_class
                            .entry(class.clone())
                            .or_default()
                            .push(found.clone());
                    }
                    seen.text.push_str(&found);
                }
            }
            Token::Doctype(_) => {}
            Token::Comment(comment) => panic!("comment {comment:?}"),
            Token::Error(error) => panic!("{error:?}"),
        }
    }
    assert!(open.is_empty(), "{open:?}");
    for link in &seen.links {
        let known = ["http://", "https://", "mailto:"];
        let is_known = known.iter().any(|scheme| link.to_lowercase().starts_with(scheme));
        match link.strip_prefix('#') {
            Some(id) => assert!(seen.ids.contains(id), "{link}"),
            None => assert!(is_known || link.contains(".html"), "{link}"),
        }
    }
    for once in ["<style>", "<script>", "<h1", "<main", "Content-Security-Policy"] {
        assert_eq!(page.matches(once).count(), 1, "{once}");
    }
    seen
}

/// A session with a text in every position.
fn with(text: &str) -> Session {
    let image = |url: &str| json!({"type":"image_url","image_url":{"url":url}});
    session(&[
        json!({"type":"session","version":1,"id":text,"title":text,"created_at":text,
            "metadata":{"cwd":text,"claude-code":{"x":text}},"source":{"format":text,"name":text}}),
        json!({"role":"system","content":text.repeat(200)}),
        json!({"role":"user","content":text,"name":text,"timestamp":text}),
        json!({"role":text,"content":text,"category":"context"}),
        json!({"role":"assistant","content":text,"model":text,"refusal":text,"timestamp":"2026-01-02T03:04:05Z",
            "reasoning":[{"type":"thinking","text":text},{"type":"encrypted","encrypted_content":text}],
            "tool_calls":[
                {"id":"c1","type":"function","function":{"name":text,"arguments":text}},
                {"id":text,"type":"function","function":{"name":"Edit","arguments":json!({"file_path":text,"old_string":text,"new_string":format!("{text}\n{text}")}).to_string()}},
                {"id":"c3","type":"function","function":{"name":"Bash","arguments":json!({"command":text,text:text,"todos":text}).to_string()}}]}),
        json!({"role":"tool","tool_call_id":"c1","name":text,"content":text,"metadata":{"is_error":true}}),
        json!({"role":"tool","tool_call_id":text,"content":[{"type":"text","text":text},{"type":text,"x":text}]}),
        json!({"role":"tool","tool_call_id":"nobody","content":text}),
        json!({"role":"user","timestamp":"2026-01-04T03:04:05Z","content":[image(text),image("https://evil.example/i.png"),image("data:text/html,<script>"),
            image("data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+"),
            json!({"type":"file","file":{"filename":text,"file_data":"data:text/html;base64,PHNjcmlwdD4="}}),
            json!({"type":"file","file":{"file_id":text}}),json!({"type":text,"x":text})]}),
        json!({"type":"summary","id":text,"at":"2026-01-04T03:05:00Z","content":text,"covers":["x","x"],"by":text}),
    ])
}

#[test]
fn hostile_texts_are_text() {
    for text in HOSTILE {
        let session = with(text);
        let first = page(&session);
        let seen = seen(&first);
        assert_eq!(page(&session), first);
        assert!(!first.contains("<b onclick"));
        // Markup is shown as text, without loss.
        let shown = text
            .split(['\n', '\t', '\u{1b}', '\u{202e}', '`', '[', '>'])
            .next()
            .unwrap();
        assert!(seen.text.contains(shown.trim()), "{text}: {shown}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_text_is_text(text in "([<>\"'&`*_\\[\\]()#|~ \n\t\\-=!/:;a-z0-9\u{202e}\u{0}\u{1b}\u{85}é漢]|</?[a-z]{1,9}|\\]\\(|javascript:|```){0,40}") {
        seen(&page(&with(&text)));
    }
}

#[test]
fn a_long_session_becomes_pages() {
    let mut lines = vec![json!({"type":"session","version":1,"id":"long","title":"Long"})];
    for nth in 0..1250 {
        lines.push(json!({"role":"user","content":format!("Question {nth}?"),"timestamp":format!("2026-01-{:02}T03:{:02}:05Z", nth / 60 + 1, nth % 60)}));
        lines.push(json!({"role":"assistant","content":"Yes.","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}));
        lines.push(json!({"role":"tool","tool_call_id":"c","content":"ok"}));
    }
    let session = session(&lines);
    let view = View::replay(&session);
    let pages = files(&session, &view, &PageOptions::default(), &mut Report::default()).unwrap();
    let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["long.html", "long~2.html", "long~3.html", "long~4.html"]);
    let ids: BTreeMap<&str, Seen> = pages
        .iter()
        .map(|(name, bytes)| (name.as_str(), seen(std::str::from_utf8(bytes).unwrap())))
        .collect();
    let mut articles = 0;
    for (name, page) in &ids {
        articles += page
            .ids
            .iter()
            .filter(|id| id.starts_with('m') && *id != "messages")
            .count();
        for link in page.links.iter().filter(|link| !link.starts_with('#')) {
            let (file, id) = link.split_once('#').unwrap_or((link, "messages"));
            assert!(ids[file].ids.contains(id), "{name}: {link}");
        }
    }
    assert_eq!(articles, 3750);
    // The whole session on one page, for a pipe.
    assert_eq!(seen(&page(&session)).ids.len(), 3751);
}

#[test]
fn a_call_and_its_result_are_one_fold() {
    let session = session(&[
        json!({"type":"session","version":1,"id":"s","metadata":{"cwd":"/w"}}),
        json!({"role":"user","content":"Fix it."}),
        json!({"role":"assistant","content":null,"tool_calls":[
            {"id":"c1","type":"function","function":{"name":"Edit","arguments":json!({"file_path":"/w/a.rs","old_string":"a\nb\nc","new_string":"a\nB\nc"}).to_string()}},
            {"id":"c2","type":"function","function":{"name":"Bash","arguments":json!({"command":"make"}).to_string()}}]}),
        json!({"role":"tool","tool_call_id":"c1","content":"done"}),
        json!({"role":"tool","tool_call_id":"c2","content":(0..1000).map(|nth| format!("line {nth}\n")).collect::<String>(),"metadata":{"is_error":true}}),
    ]);
    let page = page(&session);
    let seen = seen(&page);
    assert!(
        seen.ids
            .is_superset(&["m1", "m2", "m3", "m4"].map(String::from).into())
    );
    assert_eq!(page.matches("<article").count(), 2);
    assert!(page.contains(
        "<details class=\"tool\" id=\"m3\" data-tool=\"Edit\"><summary><b>Edit</b> <code>a.rs</code> <ins>+1</ins> <del>-1</del></summary>"
    ));
    assert!(page.contains("<pre class=\"diff\">  a\n<del>- b\n</del><ins>+ B\n</ins>  c\n</pre>"));
    assert!(page.contains("data-tool=\"Bash\" open><summary><b>Bash</b> <code>make</code> <em class=\"failed\">failed</em></summary>"));
    assert!(page.contains("line 399\n</pre>\n<p class=\"mark\">… 600 more lines, 5,400 bytes</p>"));
}

#[test]
fn the_image_type_follows_its_first_bytes() {
    let image = |url: &str| json!({"type":"image_url","image_url":{"url":url}});
    let session = session(&[json!({"role":"user","content":[
        image("data:image/png;base64,iVBORw0KGgo="),
        image("data:image/png;base64,R0lGODlh"),
        image("data:image/png;base64,PHN2Zz4="),
        image("data:image/svg+xml;base64,PHN2Zz4="),
        image(&format!("data:image/gif;base64,R0lGODlh{}", "AAAA".repeat(100_000)))]})]);
    let page = page(&session);
    seen(&page);
    assert_eq!(page.matches("<img ").count(), 2);
    assert!(
        page.contains("src=\"data:image/png;base64,iVBORw0KGgo=\"")
            && page.contains("src=\"data:image/gif;base64,R0lGODlh\"")
    );
    assert!(
        page.contains("image: image/svg+xml, 5 bytes, SHA-256 ")
            && page.contains("image: image/gif, 300,006 bytes, SHA-256 ")
    );
}

#[test]
fn the_frame_is_small_and_a_page_grows_with_its_text() {
    let line = |text: &str| session(&[json!({"role":"user","content":text})]);
    let empty = page(&line("x")).len();
    assert!(empty <= 24 << 10, "{empty}");
    let text = "A *short* line of `text` with a [link](https://a.example).\n\n".repeat(10_000);
    let grown = page(&line(&text)).len() - empty;
    assert!(
        (grown as f64) < 2.6 * text.len() as f64,
        "{grown} of {}",
        text.len()
    );
    let plain = "Plain words, as most of a session are.\n".repeat(10_000);
    let grown = page(&line(&plain)).len() - empty;
    assert!(
        (grown as f64) < 1.6 * plain.len() as f64,
        "{grown} of {}",
        plain.len()
    );
}

#[test]
fn an_index_lists_the_pages_of_a_directory() {
    let file = |lines: &[Value]| -> DirFile {
        let options = (None, &PageOptions::default());
        let files =
            output_names::files(Format::Html, &session(lines), options, &mut Report::default()).unwrap();
        files.into_iter().next().unwrap()
    };
    let header = |id: &str, title: &str, more: Value| {
        let mut header = json!({"type":"session","version":1,"id":id,"title":title});
        header
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        header
    };
    let message = |time: &str| json!({"role":"user","content":"Hi.","timestamp":time});
    let pages = [
        file(&[
            header("index", "\"><script>", json!({})),
            message("2026-01-01T00:00:00Z"),
        ]),
        file(&[
            header("b", "Newer", json!({"metadata":{"cwd":"/p"}})),
            message("2026-01-03T00:00:00Z"),
        ]),
        file(&[
            header(
                "c",
                "Branch",
                json!({"metadata":{"cwd":"/p","lineage":{"kind":"branch","parent":"a"}}}),
            ),
            message("2026-01-04T00:00:00Z"),
        ]),
        file(&[
            header("a", "Older", json!({"metadata":{"cwd":"/p"}})),
            message("2026-01-02T00:00:00Z"),
        ]),
        DirFile {
            name: "other.html".into(),
            bytes: b"<html>no page of this program".to_vec(),
        },
    ];
    assert_eq!(pages[0].name, "index~1.html");
    let index = index(
        pages
            .iter()
            .map(|page| (page.name.as_str(), page.bytes.as_slice())),
        &PageOptions::default(),
    );
    let index = String::from_utf8(index).unwrap();
    let seen = seen(&index);
    let links: Vec<&str> = seen
        .links
        .iter()
        .map(String::as_str)
        .filter(|link| !link.starts_with('#'))
        .collect();
    assert_eq!(links, ["index~1.html", "b.html", "a.html", "c.html"]);
    assert_eq!(seen.by_class["tr.child"].concat().matches("Branch").count(), 1);
    assert!(seen.text.contains("\"><script>") && seen.text.contains("4 sessions"));
}
