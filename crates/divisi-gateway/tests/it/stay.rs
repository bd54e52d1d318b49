//! Three servers and a gateway as processes, by `divisi-gateway demo --stay`.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

/// The token that may do everything.
pub const TOKEN: &str = "root";

/// Running servers and their gateway; they end with it.
pub struct Stay {
    child: Child,
    /// `None` once they are to end.
    orders: Option<Mutex<(ChildStdin, BufReader<ChildStdout>)>>,
    /// The gateway's address.
    pub address: SocketAddr,
    /// The folder of configuration and logs.
    pub folder: std::path::PathBuf,
}

impl Stay {
    /// Start them, with further arguments of `demo --stay`.
    pub fn start(arguments: &[&str]) -> Stay {
        let mut command = Command::new(env!("CARGO_BIN_EXE_divisi-gateway"));
        command.args(["demo", "--stay", "--token", TOKEN]).args(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut told = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        told.read_line(&mut line).unwrap();
        let first: Value = serde_json::from_str(&line).unwrap();
        let text = |name: &str| first[name].as_str().unwrap();
        let (address, folder) = (text("address").parse().unwrap(), text("folder").into());
        let orders = Some(Mutex::new((child.stdin.take().unwrap(), told)));
        Stay { orders, child, address, folder }
    }

    /// Give an order, and wait until it is done.
    pub fn order(&self, line: &str) {
        let mut both = self.orders.as_ref().unwrap().lock().unwrap();
        let (orders, told) = &mut *both;
        writeln!(orders, "{line}").unwrap();
        let mut answer = String::new();
        told.read_line(&mut answer).unwrap();
        assert_eq!(answer.trim(), "ok", "{line}");
    }

    /// The process of which an argument is this one, in its folder or of it: `gateway.toml` for the gateway,
    /// the number of a server.
    pub fn process(&self, argument: &str) -> u32 {
        let folder = self.folder.to_str().unwrap();
        let is_it = |pid: &u32| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line);
            let of_folder = line.split('\0').any(|word| word.starts_with(folder));
            of_folder && line.split('\0').any(|word| word.rsplit('/').next() == Some(argument))
        };
        let all = std::fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().file_name());
        let mut all = all.filter_map(|name| name.to_str()?.parse().ok());
        all.find(is_it).unwrap_or_else(|| panic!("no process has the argument {argument}"))
    }

    /// Send a signal to the process of an argument.
    pub fn signal(&self, argument: &str, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(self.process(argument).cast_signed()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// A request with these headers, on a connection of its own; `None` if the gateway closed it without an
    /// answer.
    pub fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> Option<Answered> {
        let mut stream = TcpStream::connect(self.address).unwrap();
        // a machine with much else to do takes long for what has many rounds
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n", self.address);
        headers.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
        if body.is_some() || matches!(method, "POST" | "PUT" | "PATCH") {
            head.push_str(&format!("Content-Length: {}\r\n", body.map_or(0, <[u8]>::len)));
        }
        head.push_str("\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.unwrap_or_default()).unwrap();
        Answered::read(&mut BufReader::new(stream), method == "HEAD")
    }

    /// A request of the root token with a JSON body.
    pub fn json(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = (!body.is_null()).then(|| body.to_string().into_bytes());
        let headers = [("X-Vault-Token", TOKEN), ("Content-Type", "application/json")];
        let answered = self.ask(method, path, &headers, body.as_deref()).unwrap();
        (answered.status, serde_json::from_slice(&answered.body).unwrap_or_default())
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        drop(self.orders.take());
        let _ = self.child.wait();
    }
}

/// An answer, its headers in the order in which they came.
pub struct Answered {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answered {
    fn read(stream: &mut impl BufRead, is_head: bool) -> Option<Answered> {
        let line = |stream: &mut dyn BufRead| {
            let mut line = String::new();
            stream.read_line(&mut line).ok().filter(|n| *n > 0)?;
            Some(line.trim_end().to_owned())
        };
        let first = line(stream)?;
        let status = first.split(' ').nth(1)?.parse().ok()?;
        let mut headers = Vec::new();
        loop {
            let line = line(stream)?;
            let Some((name, value)) = line.split_once(": ") else { break };
            headers.push((name.to_owned(), value.to_owned()));
        }
        let header =
            |name: &str| headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
        let mut body = Vec::new();
        if header("Transfer-Encoding") == Some("chunked") {
            loop {
                let length = u64::from_str_radix(&line(stream)?, 16).ok()?;
                stream.take(length).read_to_end(&mut body).ok()?;
                line(stream)?;
                if length == 0 {
                    break;
                }
            }
        } else if let Some(length) = header("Content-Length").filter(|_| !is_head) {
            stream.take(length.parse().ok()?).read_to_end(&mut body).ok()?;
        }
        Some(Answered { status, headers, body })
    }
}
