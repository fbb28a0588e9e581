//! A scriptable HTTP server, mainly for misbehavior.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A step in the handling of a connection, which is closed after the last one.
#[derive(Clone, Debug)]
pub enum Act {
    /// Send these bytes.
    Send(Vec<u8>),
    /// Wait until the client closes the connection.
    Hang,
    /// Wait for a signal of the test.
    Wait(Arc<Mutex<Receiver<()>>>),
}

/// A received request.
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

    /// The value of a header.
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

/// A running server; it ends with the test.
pub struct Server {
    pub port: u16,
    requests: Arc<Mutex<Vec<Request>>>,
}

/// A connection, plain or with TLS.
pub trait Wire: Read + Write {}

impl<T: Read + Write> Wire for T {}

impl Server {
    /// Starts a server; `answer` handles each request by number, from 0.
    pub fn new(answer: impl Fn(usize, &Request) -> Vec<Act> + Send + Sync + 'static) -> Server {
        Server::wrapped(|stream| Some(Box::new(stream)), answer)
    }

    /// The same with connections wrapped by `wrap`.
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

    /// A server with the same steps for every request.
    pub fn always(acts: Vec<Act>) -> Server {
        Server::new(move |_, _| acts.clone())
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// The requests so far.
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
                // A client may close the connection early.
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

/// Reads a request; none if it is incomplete.
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

/// A complete response with this status, headers and body.
pub fn whole(status: &str, headers: &str, body: &str) -> Vec<Act> {
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    vec![Act::Send(format!("{head}{body}").into_bytes())]
}

/// A successful JSON response.
pub fn json(body: &str) -> Vec<Act> {
    whole("200 OK", "content-type: application/json\r\n", body)
}

/// A chunked response with these chunks; `ended` sends the final chunk.
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

/// A port without a listener.
pub fn closed_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Waits until a condition holds; the machine may be slow.
pub fn until(so: impl Fn() -> bool) {
    for _ in 0..2000 {
        if so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it did not come about");
}
