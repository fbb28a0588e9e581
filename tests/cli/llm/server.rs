//! A server for HTTP that does what it is told, above all what no server should.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What is done with a connection, step by step; then it is closed.
#[derive(Clone, Debug)]
pub enum Act {
    /// These bytes are sent.
    Send(Vec<u8>),
    /// Nothing is done until the other side goes away.
    Hang,
    /// Nothing is done until the test says so.
    Wait(Arc<Mutex<Receiver<()>>>),
}

/// A request as it came.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// First line and headers.
    pub head: String,
    pub body: String,
}

impl Request {
    pub fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap()
    }

    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (known, value) = line.split_once(':')?;
            known.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// A server at work; it ends with the test.
pub struct Server {
    pub port: u16,
    requests: Arc<Mutex<Vec<Request>>>,
}

/// A connection, bare or inside of TLS.
pub trait Wire: Read + Write {}

impl<T: Read + Write> Wire for T {}

impl Server {
    /// Each request, from 0 on, gets what `answer` says.
    pub fn new(answer: impl Fn(usize, &Request) -> Vec<Act> + Send + Sync + 'static) -> Server {
        Server::wrapped(|stream| Some(Box::new(stream)), answer)
    }

    /// The same inside of what `wrap` puts around a connection.
    pub fn wrapped(
        wrap: impl Fn(TcpStream) -> Option<Box<dyn Wire>> + Send + Sync + 'static,
        answer: impl Fn(usize, &Request) -> Vec<Act> + Send + Sync + 'static,
    ) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let known = requests.clone();
        let (wrap, answer) = (Arc::new(wrap), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (known, wrap, answer) = (known.clone(), wrap.clone(), answer.clone());
                std::thread::spawn(move || {
                    if let Some(mut wire) = wrap(stream) {
                        serve(wire.as_mut(), &known, answer.as_ref());
                    }
                });
            }
        });
        Server { port, requests }
    }

    /// Always the same.
    pub fn always(acts: Vec<Act>) -> Server {
        Server::new(move |_, _| acts.clone())
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// What has come so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    pub fn last(&self) -> Request {
        self.requests().pop().unwrap()
    }
}

fn serve(wire: &mut dyn Wire, known: &Mutex<Vec<Request>>, answer: &dyn Fn(usize, &Request) -> Vec<Act>) {
    let Some(request) = read(wire) else { return };
    let nth = {
        let mut known = known.lock().unwrap();
        known.push(request.clone());
        known.len() - 1
    };
    for act in answer(nth, &request) {
        match act {
            Act::Send(bytes) => {
                // A client that has heard enough goes away.
                if wire.write_all(&bytes).and_then(|()| wire.flush()).is_err() {
                    return;
                }
            }
            Act::Wait(go) => {
                let _ = go.lock().unwrap().recv();
            }
            Act::Hang => while matches!(wire.read(&mut [0; 64]), Ok(1..)) {},
        }
    }
}

/// One request; none when it does not come whole.
fn read(wire: &mut dyn Wire) -> Option<Request> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    let end = loop {
        let read = wire.read(&mut buffer).ok()?;
        if read == 0 {
            return None;
        }
        bytes.extend_from_slice(&buffer[..read]);
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
    };
    let mut request = Request {
        head: String::from_utf8(bytes[..end].to_vec()).ok()?,
        body: String::new(),
    };
    let length: usize = request.header("content-length")?.parse().ok()?;
    while bytes.len() < end + length {
        let read = wire.read(&mut buffer).ok()?;
        if read == 0 {
            return None;
        }
        bytes.extend_from_slice(&buffer[..read]);
    }
    request.body = String::from_utf8(bytes[end..].to_vec()).ok()?;
    Some(request)
}

/// A whole reply with this status, these headers and this body.
pub fn whole(status: &str, headers: &str, body: &str) -> Vec<Act> {
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    vec![Act::Send(format!("{head}{body}").into_bytes())]
}

/// A good reply of JSON.
pub fn json(body: &str) -> Vec<Act> {
    whole("200 OK", "content-type: application/json\r\n", body)
}

/// A stream in these pieces, each a chunk of its own, and whether its end is sent.
pub fn chunks(pieces: &[&[u8]], ended: bool) -> Vec<Act> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let mut acts = vec![Act::Send(head.into())];
    for piece in pieces {
        let chunk = [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat();
        acts.push(Act::Send(chunk));
    }
    if ended {
        acts.push(Act::Send(b"0\r\n\r\n".to_vec()));
    }
    acts
}

/// A port on which nobody listens.
pub fn closed_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Waits until something is so; a machine may be slow.
pub fn until(so: impl Fn() -> bool) {
    for _ in 0..2000 {
        if so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it did not come about");
}
