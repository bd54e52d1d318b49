//! A client of KMS v2 at a unix socket.

#[allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::all,
    clippy::exhaustive_enums,
    reason = "a program wrote it"
)]
#[path = "../../src/kms/generated/mod.rs"]
mod generated;

use generated::client::KeyManagementServiceClient;
use generated::{DecryptRequest, EncryptRequest, StatusRequest};
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::runtime::{Builder, Runtime};
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::{Code, Status};

/// A connection as tonic's client wants it.
#[derive(Clone)]
struct Wire(SendRequest<Body>);

impl Service<Request<Body>> for Wire {
    type Response = Response<hyper::body::Incoming>;
    type Error = hyper::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, hyper::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), hyper::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(self.0.send_request(request))
    }
}

/// The client: each call has a connection of its own.
pub struct Kms {
    runtime: Runtime,
    path: PathBuf,
}

impl Kms {
    pub fn at(path: &Path) -> Kms {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        Kms { runtime, path: path.to_owned() }
    }

    async fn wire(&self) -> Wire {
        let stream = tokio::net::UnixStream::connect(&self.path).await.unwrap();
        let (sender, connection) = handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        Wire(sender)
    }

    async fn client(&self) -> KeyManagementServiceClient<Wire> {
        KeyManagementServiceClient::with_origin(self.wire().await, "http://localhost".parse().unwrap())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Send these bytes as the message of a call.
    pub fn raw_call(&self, call: &str, message: Vec<u8>) -> Code {
        self.runtime.block_on(async {
            let mut wire = self.wire().await;
            let body = Body::new(http_body_util::Full::new(bytes::Bytes::from(message)));
            let request = Request::post(format!("http://localhost/v2.KeyManagementService/{call}"));
            let answer = wire.call(request.body(body).unwrap()).await.unwrap();
            assert_eq!(answer.status(), 200);
            Status::from_header_map(answer.headers()).map_or(Code::Ok, |status| status.code())
        })
    }

    /// How the plugin is, and the `key_id`.
    pub fn status(&self) -> (String, String) {
        self.runtime.block_on(async {
            let status = self.client().await.status(StatusRequest {}).await.unwrap().into_inner();
            (status.healthz, status.key_id)
        })
    }

    /// A ciphertext and its `key_id`.
    pub fn encrypt(&self, plaintext: &[u8]) -> Result<(Vec<u8>, String), Status> {
        self.runtime.block_on(async {
            let request = EncryptRequest { plaintext: plaintext.to_vec(), uid: "u".into() };
            let answer = self.client().await.encrypt(request).await?.into_inner();
            Ok((answer.ciphertext, answer.key_id))
        })
    }

    pub fn decrypt(&self, ciphertext: &[u8], key_id: &str) -> Result<Vec<u8>, Status> {
        self.runtime.block_on(async {
            let (ciphertext, key_id) = (ciphertext.to_vec(), key_id.to_owned());
            let request = DecryptRequest { ciphertext, key_id, uid: "u".into(), ..DecryptRequest::default() };
            Ok(self.client().await.decrypt(request).await?.into_inner().plaintext)
        })
    }
}
