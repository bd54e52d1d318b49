//! `divisi-gateway demo`: three servers and a gateway on this machine, and each step as a `curl` line.

mod servers;
mod stay;

pub(crate) use servers::Machines;
pub use servers::{DemoSetting, server};
pub use stay::stay;

use crate::base64::{decode, encode};
use crate::client::{Answered, HttpClient};
use crate::json::{Json, object};
use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use divisi_net::{Machine, PartyId, World};
use divisi_node::{Client, KeyType};
use std::io::Write;
use std::sync::Arc;

const PLAINTEXT: &[u8] = b"a text that no server sees";
/// The longest piece of an answer that is printed.
const SHOWN: usize = 300;

struct Stage<'a> {
    machines: &'a Machines,
    client: HttpClient,
    out: &'a mut dyn Write,
}

impl Stage<'_> {
    fn say(&mut self, line: &str) -> Result<(), String> {
        writeln!(self.out, "{line}").map_err(|e| format!("standard output cannot be written ({e})"))
    }

    /// Print a request as curl would make it, make it, and print the answer.
    fn step(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&Json>,
        status: u16,
    ) -> Result<Answered, String> {
        let text = body.map(|body| String::from_utf8_lossy(&body.write()).into_owned());
        let data = text.as_ref().map(|text| format!(" -d '{text}'")).unwrap_or_default();
        let address = self.machines.address;
        self.say(&format!(
            "$ curl -X {method} -H \"X-Vault-Token: $TOKEN\" http://{address}/v1/{path}{data}"
        ))?;
        let path = format!("/v1/{path}");
        let answered = self.client.ask(method, &path, text.as_ref().map(String::as_bytes));
        let answered = answered.map_err(|e| format!("the gateway did not answer ({e})"))?;
        let body = String::from_utf8_lossy(&answered.body);
        let (body, more) = match body.char_indices().nth(SHOWN) {
            Some((cut, _)) => (body.get(..cut).unwrap_or_default().to_owned(), ".."),
            None => (body.trim_end().to_owned(), ""),
        };
        self.say(&format!("{} {body}{more}\n", answered.status))?;
        if answered.status == status {
            Ok(answered)
        } else {
            Err(format!("the answer should have been {status}"))
        }
    }
}

fn text<'a>(json: &'a Json, path: &[&str]) -> Result<&'a str, String> {
    let found = json.at(path).and_then(Json::as_str);
    found.ok_or_else(|| format!("the answer has no {}", path.join(".")))
}

/// Run the demonstration.
///
/// # Errors
/// One sentence: what did not go as it should.
pub fn demo(out: &mut dyn Write) -> Result<(), String> {
    let mut machines = Machines::start(&DemoSetting::default())?;
    let client = machines.client().map_err(|e| e.to_string())?;
    let mut stage = Stage { machines: &machines, client, out: &mut *out };
    stage.say("Three servers and a gateway run on this machine, each as a process of its own.\n")?;

    // made by the client API, since no key that the gateway makes can be exported
    let world: Arc<dyn World> = Arc::new(Machine);
    let direct = Client::connect(&machines.mesh, &machines.identity, world);
    let mut direct = direct.map_err(|e| e.to_string())?;
    let name = "letters".parse()?;
    let new = direct.new_key("letters".parse()?, KeyType::Aes256, true, Vec::new());
    direct.key_new(&new).map_err(|e| e.to_string())?;
    stage.say(
        "A key that no server has. (It is there already and can be exported once, for the last step; a gateway \
         makes none that can.)",
    )?;
    stage.step("POST", "transit/keys/letters", Some(&Json::empty()), 200)?;

    stage.say("A text is encrypted, and decrypted again.")?;
    let body = object([("plaintext", Json::String(encode(PLAINTEXT)))]);
    let first = stage.step("POST", "transit/encrypt/letters", Some(&body), 200)?.json();
    let ciphertext = text(&first, &["data", "ciphertext"])?.to_owned();
    let body = object([("ciphertext", Json::text(&*ciphertext))]);
    let opened = stage.step("POST", "transit/decrypt/letters", Some(&body), 200)?.json();
    let plaintext = decode(text(&opened, &["data", "plaintext"])?).map_err(|e| e.to_string())?;
    if *plaintext != PLAINTEXT {
        return Err("what was decrypted is another text".into());
    }

    stage.say("A data key: the application encrypts with it, and keeps it encrypted.")?;
    stage.step("POST", "transit/datakey/plaintext/letters", None, 200)?;

    stage.say("A batch.")?;
    let item = |text: &str, reference: &str| {
        object([("plaintext", Json::String(encode(text.as_bytes()))), ("reference", Json::text(reference))])
    };
    let items = Json::Array(vec![item("one", "first"), item("two", "second")]);
    stage.step("POST", "transit/encrypt/letters", Some(&object([("batch_input", items)])), 200)?;

    machines.kill_server(PartyId::P2);
    let lasted = machines.wait_for(503)?;
    let client = machines.client().map_err(|e| e.to_string())?;
    let mut stage = Stage { machines: &machines, client, out: &mut *out };
    stage.say(&format!("Server 2 is killed. After {:.1} s the gateway says so.", lasted.as_secs_f64()))?;
    stage.step("GET", "sys/health", None, 503)?;

    machines.start_server(PartyId::P2)?;
    let lasted = machines.wait_for(200)?;
    let client = machines.client().map_err(|e| e.to_string())?;
    let mut stage = Stage { machines: &machines, client, out: &mut *out };
    stage.say(&format!("It comes back. After {:.1} s all is as before.", lasted.as_secs_f64()))?;
    stage.step("POST", "transit/decrypt/letters", Some(&body), 200)?;

    stage.say(
        "The key is exported to its maker, and an ordinary AES-GCM library opens the first ciphertext:",
    )?;
    let world: Arc<dyn World> = Arc::new(Machine);
    let direct = Client::connect(&machines.mesh, &machines.identity, world);
    let mut direct = direct.map_err(|e| e.to_string())?;
    let key = direct.key_export(&name).map_err(|e| e.to_string())?;
    let opened = open(&key, &ciphertext)?;
    stage.say(&String::from_utf8_lossy(&opened))?;
    if opened == PLAINTEXT { Ok(()) } else { Err("the library opened another text".into()) }
}

/// Open a ciphertext of Transit with the key itself.
fn open(key: &[u8], ciphertext: &str) -> Result<Vec<u8>, String> {
    let encoded = ciphertext.strip_prefix("vault:v1:").ok_or("the ciphertext has no prefix")?;
    let sealed = decode(encoded).map_err(|e| e.to_string())?;
    let (iv, sealed) = sealed.split_first_chunk::<12>().ok_or("the ciphertext is too short")?;
    let wrong = |_| "the library does not open the ciphertext".to_owned();
    let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key).map_err(wrong)?);
    let mut buffer = sealed.to_vec();
    let nonce = Nonce::assume_unique_for_key(*iv);
    key.open_in_place(nonce, Aad::empty(), &mut buffer).map(|opened| opened.to_vec()).map_err(wrong)
}
