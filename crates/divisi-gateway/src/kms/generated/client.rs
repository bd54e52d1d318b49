//! The client, as the parent module's header says.

#![allow(unused_variables, dead_code, missing_docs, clippy::wildcard_imports, clippy::let_unit_value)]
use tonic::codegen::http::Uri;
use tonic::codegen::*;
/// The interface of a plugin. kube-apiserver calls it on a unix socket.
#[derive(Debug, Clone)]
pub struct KeyManagementServiceClient<T> {
    inner: tonic::client::Grpc<T>,
}
impl<T> KeyManagementServiceClient<T>
where
    T: tonic::client::GrpcService<tonic::body::Body>,
    T::Error: Into<StdError>,
    T::ResponseBody: Body<Data = Bytes> + std::marker::Send + 'static,
    <T::ResponseBody as Body>::Error: Into<StdError> + std::marker::Send,
{
    pub fn new(inner: T) -> Self {
        let inner = tonic::client::Grpc::new(inner);
        Self { inner }
    }
    pub fn with_origin(inner: T, origin: Uri) -> Self {
        let inner = tonic::client::Grpc::with_origin(inner, origin);
        Self { inner }
    }
    pub fn with_interceptor<F>(
        inner: T,
        interceptor: F,
    ) -> KeyManagementServiceClient<InterceptedService<T, F>>
    where
        F: tonic::service::Interceptor,
        T::ResponseBody: Default,
        T: tonic::codegen::Service<
                http::Request<tonic::body::Body>,
                Response = http::Response<<T as tonic::client::GrpcService<tonic::body::Body>>::ResponseBody>,
            >,
        <T as tonic::codegen::Service<http::Request<tonic::body::Body>>>::Error:
            Into<StdError> + std::marker::Send + std::marker::Sync,
    {
        KeyManagementServiceClient::new(InterceptedService::new(inner, interceptor))
    }
    /// Compress requests with the given encoding.
    ///
    /// This requires the server to support it otherwise it might respond with an
    /// error.
    #[must_use]
    pub fn send_compressed(mut self, encoding: CompressionEncoding) -> Self {
        self.inner = self.inner.send_compressed(encoding);
        self
    }
    /// Enable decompressing responses.
    #[must_use]
    pub fn accept_compressed(mut self, encoding: CompressionEncoding) -> Self {
        self.inner = self.inner.accept_compressed(encoding);
        self
    }
    /// Limits the maximum size of a decoded message.
    ///
    /// Default: `4MB`
    #[must_use]
    pub fn max_decoding_message_size(mut self, limit: usize) -> Self {
        self.inner = self.inner.max_decoding_message_size(limit);
        self
    }
    /// Limits the maximum size of an encoded message.
    ///
    /// Default: `usize::MAX`
    #[must_use]
    pub fn max_encoding_message_size(mut self, limit: usize) -> Self {
        self.inner = self.inner.max_encoding_message_size(limit);
        self
    }
    /// How the plugin is, and with which key it encrypts. It is asked again and again.
    pub async fn status(
        &mut self,
        request: impl tonic::IntoRequest<super::StatusRequest>,
    ) -> std::result::Result<tonic::Response<super::StatusResponse>, tonic::Status> {
        self.inner
            .ready()
            .await
            .map_err(|e| tonic::Status::unknown(format!("Service was not ready: {}", e.into())))?;
        let codec = tonic_prost::ProstCodec::default();
        let path = http::uri::PathAndQuery::from_static("/v2.KeyManagementService/Status");
        let mut req = request.into_request();
        req.extensions_mut().insert(GrpcMethod::new("v2.KeyManagementService", "Status"));
        self.inner.unary(req, path, codec).await
    }
    /// Open a ciphertext of Encrypt.
    pub async fn decrypt(
        &mut self,
        request: impl tonic::IntoRequest<super::DecryptRequest>,
    ) -> std::result::Result<tonic::Response<super::DecryptResponse>, tonic::Status> {
        self.inner
            .ready()
            .await
            .map_err(|e| tonic::Status::unknown(format!("Service was not ready: {}", e.into())))?;
        let codec = tonic_prost::ProstCodec::default();
        let path = http::uri::PathAndQuery::from_static("/v2.KeyManagementService/Decrypt");
        let mut req = request.into_request();
        req.extensions_mut().insert(GrpcMethod::new("v2.KeyManagementService", "Decrypt"));
        self.inner.unary(req, path, codec).await
    }
    /// Encrypt a plaintext, which is itself a key or the seed of keys.
    pub async fn encrypt(
        &mut self,
        request: impl tonic::IntoRequest<super::EncryptRequest>,
    ) -> std::result::Result<tonic::Response<super::EncryptResponse>, tonic::Status> {
        self.inner
            .ready()
            .await
            .map_err(|e| tonic::Status::unknown(format!("Service was not ready: {}", e.into())))?;
        let codec = tonic_prost::ProstCodec::default();
        let path = http::uri::PathAndQuery::from_static("/v2.KeyManagementService/Encrypt");
        let mut req = request.into_request();
        req.extensions_mut().insert(GrpcMethod::new("v2.KeyManagementService", "Encrypt"));
        self.inner.unary(req, path, codec).await
    }
}
