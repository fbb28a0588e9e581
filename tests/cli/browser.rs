//! Tests pages in a browser: what they run, load, show and print. Ignored without chromium: see `build.rs`.

use crate::env::{Env, Run};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The script with which a page checks itself: landmarks, headings, names, contrast, width, folds and the filter.
const DRIVER: &str = r#"<script>setTimeout(()=>{
const wrong=[],all=q=>[...document.querySelectorAll(q)],fails=(is,what)=>{if(is)wrong.push(what)};
for(const q of["body>header","main","body>footer","h1"])fails(all(q).length!==1,q);
let last=0;for(const h of all("h1,h2,h3,h4,h5,h6")){const l=+h.tagName[1];fails(l>last+1,"heading "+h.textContent);last=l}
fails(all("nav:not([aria-label]),input:not([aria-label]),img:not([alt]),svg:not([aria-label])").length,"name");
fails(all("main a:not([href]),svg a:not([tabindex='-1'])").length,"link");
fails(document.documentElement.scrollWidth>innerWidth,"width "+document.documentElement.scrollWidth+" of "+innerWidth);
const light=c=>{const[r,g,b]=c.map(v=>{v/=255;return v<=.03928?v/12.92:((v+.055)/1.055)**2.4});return .2126*r+.7152*g+.0722*b};
const rgb=s=>s.match(/[\d.]+/g).map(Number);
const back=e=>{for(;e;e=e.parentElement){const c=rgb(getComputedStyle(e).backgroundColor);if(c.length<4||c[3]>0)return c.slice(0,3)}return[255,255,255]};
const walk=document.createTreeWalker(document.body,NodeFilter.SHOW_TEXT);
for(let n;n=walk.nextNode();){const e=n.parentElement;if(!n.data.trim()||e.closest("svg,script"))continue;
const a=light(rgb(getComputedStyle(e).color).slice(0,3)),b=light(back(e)),r=(Math.max(a,b)+.05)/(Math.min(a,b)+.05);
fails(r<4.5,"contrast "+r.toFixed(1)+" "+n.data.trim().slice(0,20))}
const[open,close]=all(".bar button");open.click();fails(all("article details:not([open])").length,"open all");
close.click();fails(all("article details[open]").length,"close all");
const box=document.querySelector(".bar input");
document.dispatchEvent(new KeyboardEvent("keydown",{key:"/"}));fails(document.activeElement!==box,"slash");
const filter=(text,then)=>{box.value=text;box.dispatchEvent(new Event("input"));setTimeout(()=>then(all("article:not([hidden])").length),300)};
filter("tool:edit",n=>{fails(n!==1,"tool "+n);filter("role:user hello",n=>{fails(n!==1,"role "+n);filter("",n=>{fails(n!==all("article").length,"all");
document.title=wrong.length?"wrong: "+wrong.join("; "):"right: "+matchMedia("(prefers-color-scheme:dark)").matches})})});
},200)</script>"#;

/// A browser whose only network is this listener.
struct Browser<'e> {
    env: &'e Env,
    connections: Arc<AtomicU32>,
    port: u16,
}

impl Browser<'_> {
    fn new(env: &Env) -> Browser<'_> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicU32::new(0));
        let counter = connections.clone();
        std::thread::spawn(move || {
            for _ in listener.incoming() {
                counter.fetch_add(1, Ordering::SeqCst);
            }
        });
        Browser {
            env,
            connections,
            port,
        }
    }

    /// Opens a file of the work directory; returns the document on standard output.
    fn open(&self, name: &str, options: &[&str]) -> Run {
        let mut command = self.env.program("chromium");
        let profile = self.env.root().join(format!("profile-{name}"));
        command
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-extensions",
            ])
            .arg("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
            .args(["--enable-logging=stderr", "--virtual-time-budget=5000"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .args(options)
            .arg(format!("file://{}", self.env.work().join(name).display()));
        self.env.wait(command).status(0)
    }

    /// The document of a file after its scripts ran; false if anything was written to the console.
    fn document(&self, name: &str, options: &[&str]) -> (String, bool) {
        let run = self.open(name, &[&["--dump-dom"], options].concat());
        (run.out().to_string(), !run.stderr.contains("CONSOLE"))
    }

    fn connections(&self) -> u32 {
        self.connections.load(Ordering::SeqCst)
    }
}

/// A session whose texts try to reach the listener, with one of every other kind of content.
fn session(port: u16) -> String {
    let url = format!("http://127.0.0.1:{port}");
    let hostile = format!(
        "<img src={url}/1 onerror=\"document.body.dataset.ran=1\"> ![x]({url}/2) <script>document.body.dataset.ran=1;fetch('{url}/3')</script>\n\n\
         <link rel=stylesheet href={url}/4><style>@import url({url}/5);</style><iframe src={url}/6></iframe>\n\n\
         <svg><image href={url}/7 /></svg> <base href={url}><meta http-equiv=refresh content=\"0;url={url}/8\"> [x](javascript:document.body.dataset.ran=1)\n\n\
         <video src={url}/9 autoplay></video><object data={url}/10></object><link rel=prefetch href={url}/11>\n"
    );
    let edit =
        json!({"file_path":"src/main.rs","old_string":"a\nb\nc","new_string":"a\nB\nc\nd"}).to_string();
    let call = |id: &str, name: &str, arguments: &str| json!({"id":id,"type":"function","function":{"name":name,"arguments":arguments}});
    let lines = [
        json!({"type":"session","version":1,"id":"page","title":format!("Hello {hostile}"),"metadata":{"cwd":"/w"}}),
        json!({"role":"system","content":format!("{hostile}{}", "Be terse. ".repeat(200))}),
        json!({"role":"user","content":"Hello there, fix `main.rs`.","timestamp":"2026-01-02T03:04:05Z"}),
        json!({"role":"assistant","model":"m","timestamp":"2026-01-02T03:04:15Z","reasoning":[{"type":"thinking","text":"Hm."}],
            "content":"# Plan\n\n1. Read\n2. Write\n\n> quoted\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n```rust\nfn main() {}\n```\n[docs](https://example.com) and https://example.com/a/very/long/address/without/any/break/at/all/so/that/narrow/screens/show/it/whole",
            "tool_calls":[call("c1", "Edit", &edit), call("c2", "Bash", "{\"command\":\"make\"}")]}),
        json!({"role":"tool","tool_call_id":"c1","content":"done"}),
        json!({"role":"tool","tool_call_id":"c2","content":format!("error: {hostile}"),"metadata":{"is_error":true}}),
        json!({"role":"user","timestamp":"2026-01-03T03:04:05Z","content":[{"type":"text","text":hostile},
            {"type":"image_url","image_url":{"url":format!("{url}/12.png")}},
            {"type":"image_url","image_url":{"url":"data:image/svg+xml;base64,PHN2Zy8+"}}]}),
        json!({"role":"assistant","content":hostile,"tool_calls":[call("c3", &hostile, &hostile)],"timestamp":"2026-01-03T03:05:05Z"}),
    ];
    lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n") + "\n"
}

/// The part of a document with the messages.
fn main_of(document: &str) -> &str {
    let start = document.find("<main").unwrap();
    &document[start..document.find("</main>").unwrap()]
}

#[test]
#[cfg_attr(not(chromium), ignore = "needs chromium: see build.rs")]
fn a_browser_runs_and_loads_nothing_of_a_hostile_session() {
    let env = Env::new();
    let browser = Browser::new(&env);
    let page = env
        .pipe(&["cat", "-q", "--to", "html"], session(browser.port))
        .fine()
        .out()
        .to_string();
    env.write("page.html", &page);
    let (document, is_quiet) = browser.document("page.html", &[]);
    assert!(is_quiet && document.contains("class=\"bar\""), "{document}");
    assert!(!document.contains("data-ran"), "{document}");
    let (start, end) = (page.rfind("<script>").unwrap(), page.rfind("</script>").unwrap());
    env.write("still.html", format!("{}{}", &page[..start], &page[end + 9..]));
    let (still, is_quiet) = browser.document("still.html", &[]);
    assert!(is_quiet && !still.contains("class=\"bar\""));
    assert_eq!(main_of(&still), main_of(&document));
    assert_eq!(browser.connections(), 0);
    // Checks that the test detects network access and console output.
    let url = format!("http://127.0.0.1:{}/x.png", browser.port);
    env.write(
        "loud.html",
        format!("<img src={url}><script>console.log(1)</script>"),
    );
    let (_, is_quiet) = browser.document("loud.html", &[]);
    assert!(!is_quiet && browser.connections() > 0);
}

#[test]
#[cfg_attr(not(chromium), ignore = "needs chromium: see build.rs")]
fn a_page_can_be_read_and_used_in_both_themes_and_on_a_narrow_screen() {
    let env = Env::new();
    let browser = Browser::new(&env);
    let page = env
        .pipe(&["cat", "-q", "--to", "html"], session(browser.port))
        .fine()
        .out()
        .to_string();
    let policy = page.find("<meta http-equiv").unwrap();
    let after = policy + page[policy..].find('\n').unwrap();
    // The page's policy would block the driver, which is not part of the page.
    let driven = format!(
        "{}{}",
        &page[..policy],
        page[after..].replace("</body>", &format!("{DRIVER}</body>"))
    );
    env.write("page.html", &driven);
    let dark = "--blink-settings=preferredColorScheme=0";
    let mut pictures = Vec::new();
    for (options, expected) in [
        (&["--window-size=1000,900"][..], "right: false"),
        (&[dark, "--window-size=520,900"], "right: true"),
    ] {
        let (document, _) = browser.document("page.html", options);
        let title = document
            .split("<title>")
            .nth(1)
            .and_then(|rest| rest.split("</title>").next());
        assert_eq!(title, Some(expected));
        let picture = env.root().join(format!("{}.png", pictures.len()));
        let shot = format!("--screenshot={}", picture.display());
        browser
            .open("page.html", &[&[shot.as_str()], options].concat())
            .status(0);
        pictures.push(std::fs::read(picture).unwrap());
    }
    assert!(pictures.iter().all(|picture| picture.len() > 20_000) && pictures[0] != pictures[1]);
}
