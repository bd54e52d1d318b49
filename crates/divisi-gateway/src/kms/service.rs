//! The three calls, and the status of each trouble.

use super::KmsFace;
use super::generated::server::KeyManagementService;
use super::generated::{
    DecryptRequest, DecryptResponse, EncryptRequest, EncryptResponse, StatusRequest, StatusResponse,
};
use super::seal::{Id, LONGEST_PLAINTEXT, associated, key_id, parse_key_id, unwrap, wrap};
use super::told::Told;
use super::watch::{NoKey, down};
use crate::backend::BackendTrouble;
use crate::turns::NoTurn;
use std::collections::BTreeMap;
use std::sync::Arc;
use tonic::{Request, Response, Status};
use zeroize::{Zeroize, Zeroizing};

/// The version of the interface.
const VERSION: &str = "v2";
const FORGED: &str = "the ciphertext is not authentic: it was changed, or is not one of this plugin";

impl Drop for EncryptRequest {
    fn drop(&mut self) {
        self.plaintext.zeroize();
    }
}

impl Drop for DecryptResponse {
    fn drop(&mut self) {
        self.plaintext.zeroize();
    }
}

impl KmsFace {
    /// Do what blocks in a thread, when it is its turn.
    async fn turn<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&KmsFace) -> Result<T, Status> + Send + 'static,
    ) -> Result<T, Status> {
        let turn = match self.turns.take().await {
            Ok(turn) => turn,
            Err(NoTurn::Full) => {
                return Err(Status::resource_exhausted("too many requests wait for the servers: try again"));
            }
            Err(NoTurn::Late) => return Err(Status::unavailable(NoTurn::LATE)),
        };
        // a client that goes away does not stop what the servers have begun
        let done = tokio::task::spawn_blocking(move || {
            let done = work(&self);
            drop(turn);
            done
        });
        done.await
            .unwrap_or_else(|_| Err(Status::unavailable("the thread of the request ended: see the log")))
    }

    fn no_key(&self, why: &NoKey) -> Status {
        match why {
            NoKey::Trouble(trouble) => status(trouble),
            NoKey::Unasked => Status::unavailable(why.sentence(&self.key)),
            NoKey::Missing | NoKey::Unfit(_) => Status::failed_precondition(why.sentence(&self.key)),
        }
    }

    fn seal(&self, plaintext: &[u8]) -> Result<(Vec<u8>, Id), Status> {
        let mut id = self.watch.known_or_look().map_err(|e| self.no_key(&e))?;
        // if the key has a successor, once more under the successor's id
        for _ in 0..2 {
            let sealed = match self.servers.encrypt(&self.key, &associated(&id), plaintext) {
                Ok(sealed) => sealed,
                Err(trouble) => {
                    if matches!(trouble, BackendTrouble::Refused(_)) {
                        // a key that is gone is why, and `Status` is to know it
                        self.watch.look().map_err(|e| self.no_key(&e))?;
                    }
                    return Err(status(&trouble));
                }
            };
            let now = self.watch.look().map_err(|e| self.no_key(&e))?;
            if now == id {
                let wrapped = wrap(&sealed, plaintext.len());
                let wrapped =
                    wrapped.ok_or_else(|| Status::unavailable("the servers gave no ciphertext: try again"));
                return Ok((wrapped?, id));
            }
            id = now;
        }
        Err(Status::unavailable("the key was replaced while it encrypted: try again"))
    }

    fn open(&self, id: &Id, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, Status> {
        if self.watch.known().as_ref() != Some(id) {
            let now = self.watch.look().map_err(|e| self.no_key(&e))?;
            if now != *id {
                return Err(self.another(id, &now));
            }
        }
        match self.servers.decrypt(&self.key, &associated(id), sealed) {
            Ok(plaintext) => Ok(plaintext),
            Err(BackendTrouble::Forged) => match self.watch.look() {
                Ok(now) if now != *id => Err(self.another(id, &now)),
                _ => Err(Status::invalid_argument(FORGED)),
            },
            Err(trouble) => Err(status(&trouble)),
        }
    }

    fn another(&self, asked: &Id, now: &Id) -> Status {
        Status::failed_precondition(format!(
            "the ciphertext is one of the key {}, and the key {} of this gateway is {}: configure the key with which \
             it was encrypted",
            key_id(asked),
            self.key,
            key_id(now)
        ))
    }
}

/// The status of a trouble.
fn status(trouble: &BackendTrouble) -> Status {
    match trouble {
        BackendTrouble::Down(party, why) => Status::unavailable(down(*party, why)),
        BackendTrouble::Refused(why) => Status::failed_precondition(why.as_str()),
        BackendTrouble::Forged => Status::invalid_argument(FORGED),
        BackendTrouble::Misuse(why) => Status::invalid_argument(why.as_str()),
    }
}

/// Tell the log by which name the client knows its request.
fn tell<T>(request: &Request<T>, uid: &str) {
    if let Some(told) = request.extensions().get::<Told>() {
        told.name(uid);
    }
}

/// The service: the face, in a type of this module.
pub(super) struct KmsService(pub Arc<KmsFace>);

#[tonic::async_trait]
impl KeyManagementService for KmsService {
    async fn status(&self, _: Request<StatusRequest>) -> Result<Response<StatusResponse>, Status> {
        let (healthz, key_id) = self.0.watch.status();
        Ok(Response::new(StatusResponse { version: VERSION.into(), healthz, key_id }))
    }

    async fn encrypt(&self, request: Request<EncryptRequest>) -> Result<Response<EncryptResponse>, Status> {
        tell(&request, &request.get_ref().uid);
        let plaintext = Zeroizing::new(std::mem::take(&mut request.into_inner().plaintext));
        if plaintext.len() > LONGEST_PLAINTEXT {
            return Err(Status::invalid_argument(format!(
                "the plaintext has {} bytes, and KMS v2 encrypts keys: at most {LONGEST_PLAINTEXT}",
                plaintext.len()
            )));
        }
        let (ciphertext, id) = Arc::clone(&self.0).turn(move |face| face.seal(&plaintext)).await?;
        let key_id = key_id(&id);
        Ok(Response::new(EncryptResponse { ciphertext, key_id, annotations: BTreeMap::new() }))
    }

    async fn decrypt(&self, request: Request<DecryptRequest>) -> Result<Response<DecryptResponse>, Status> {
        tell(&request, &request.get_ref().uid);
        let request = request.into_inner();
        let Some(id) = parse_key_id(&request.key_id) else {
            return Err(Status::invalid_argument("the key_id is none of this plugin's"));
        };
        let wrong = unwrap(&request.ciphertext).err();
        if let Some(why) = wrong {
            return Err(Status::invalid_argument(why));
        }
        let open = move |face: &KmsFace| {
            let sealed = unwrap(&request.ciphertext).map_err(Status::invalid_argument)?;
            face.open(&id, sealed)
        };
        let mut plaintext = Arc::clone(&self.0).turn(open).await?;
        Ok(Response::new(DecryptResponse { plaintext: std::mem::take(&mut *plaintext) }))
    }
}
