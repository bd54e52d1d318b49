//! The service, as the parent module's header says.

#![allow(unused_variables, dead_code, missing_docs, clippy::wildcard_imports, clippy::let_unit_value)]
use tonic::codegen::*;
use tonic::server::UnaryService;
/// What a plugin does.
#[async_trait]
pub trait KeyManagementService: std::marker::Send + std::marker::Sync + 'static {
    /// How the plugin is, and with which key it encrypts. It is asked again and again.
    async fn status(
        &self,
        request: tonic::Request<super::StatusRequest>,
    ) -> std::result::Result<tonic::Response<super::StatusResponse>, tonic::Status>;
    /// Open a ciphertext of Encrypt.
    async fn decrypt(
        &self,
        request: tonic::Request<super::DecryptRequest>,
    ) -> std::result::Result<tonic::Response<super::DecryptResponse>, tonic::Status>;
    /// Encrypt a plaintext, which is itself a key or the seed of keys.
    async fn encrypt(
        &self,
        request: tonic::Request<super::EncryptRequest>,
    ) -> std::result::Result<tonic::Response<super::EncryptResponse>, tonic::Status>;
}
/// The interface of a plugin. kube-apiserver calls it on a unix socket.
#[derive(Debug)]
pub struct KeyManagementServiceServer<T> {
    inner: Arc<T>,
    accept_compression_encodings: EnabledCompressionEncodings,
    send_compression_encodings: EnabledCompressionEncodings,
    max_decoding_message_size: Option<usize>,
    max_encoding_message_size: Option<usize>,
}
impl<T> KeyManagementServiceServer<T> {
    pub fn new(inner: T) -> Self {
        Self::from_arc(Arc::new(inner))
    }
    pub fn from_arc(inner: Arc<T>) -> Self {
        Self {
            inner,
            accept_compression_encodings: Default::default(),
            send_compression_encodings: Default::default(),
            max_decoding_message_size: None,
            max_encoding_message_size: None,
        }
    }
    pub fn with_interceptor<F>(inner: T, interceptor: F) -> InterceptedService<Self, F>
    where
        F: tonic::service::Interceptor,
    {
        InterceptedService::new(Self::new(inner), interceptor)
    }
    /// Enable decompressing requests with the given encoding.
    #[must_use]
    pub fn accept_compressed(mut self, encoding: CompressionEncoding) -> Self {
        self.accept_compression_encodings.enable(encoding);
        self
    }
    /// Compress responses with the given encoding, if the client supports it.
    #[must_use]
    pub fn send_compressed(mut self, encoding: CompressionEncoding) -> Self {
        self.send_compression_encodings.enable(encoding);
        self
    }
    /// Limits the maximum size of a decoded message.
    ///
    /// Default: `4MB`
    #[must_use]
    pub fn max_decoding_message_size(mut self, limit: usize) -> Self {
        self.max_decoding_message_size = Some(limit);
        self
    }
    /// Limits the maximum size of an encoded message.
    ///
    /// Default: `usize::MAX`
    #[must_use]
    pub fn max_encoding_message_size(mut self, limit: usize) -> Self {
        self.max_encoding_message_size = Some(limit);
        self
    }
}
impl<T, B> tonic::codegen::Service<http::Request<B>> for KeyManagementServiceServer<T>
where
    T: KeyManagementService,
    B: Body + std::marker::Send + 'static,
    B::Error: Into<StdError> + std::marker::Send + 'static,
{
    type Response = http::Response<tonic::body::Body>;
    type Error = std::convert::Infallible;
    type Future = BoxFuture<Self::Response, Self::Error>;
    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<std::result::Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, req: http::Request<B>) -> Self::Future {
        match req.uri().path() {
            "/v2.KeyManagementService/Status" => {
                #[allow(non_camel_case_types)]
                struct StatusSvc<T: KeyManagementService>(pub Arc<T>);
                impl<T: KeyManagementService> UnaryService<super::StatusRequest> for StatusSvc<T> {
                    type Response = super::StatusResponse;
                    type Future = BoxFuture<tonic::Response<Self::Response>, tonic::Status>;
                    fn call(&mut self, request: tonic::Request<super::StatusRequest>) -> Self::Future {
                        let inner = Arc::clone(&self.0);
                        let fut = async move { <T as KeyManagementService>::status(&inner, request).await };
                        Box::pin(fut)
                    }
                }
                let accept_compression_encodings = self.accept_compression_encodings;
                let send_compression_encodings = self.send_compression_encodings;
                let max_decoding_message_size = self.max_decoding_message_size;
                let max_encoding_message_size = self.max_encoding_message_size;
                let inner = self.inner.clone();
                let fut = async move {
                    let method = StatusSvc(inner);
                    let codec = tonic_prost::ProstCodec::default();
                    let mut grpc = tonic::server::Grpc::new(codec)
                        .apply_compression_config(accept_compression_encodings, send_compression_encodings)
                        .apply_max_message_size_config(max_decoding_message_size, max_encoding_message_size);
                    let res = grpc.unary(method, req).await;
                    Ok(res)
                };
                Box::pin(fut)
            }
            "/v2.KeyManagementService/Decrypt" => {
                #[allow(non_camel_case_types)]
                struct DecryptSvc<T: KeyManagementService>(pub Arc<T>);
                impl<T: KeyManagementService> UnaryService<super::DecryptRequest> for DecryptSvc<T> {
                    type Response = super::DecryptResponse;
                    type Future = BoxFuture<tonic::Response<Self::Response>, tonic::Status>;
                    fn call(&mut self, request: tonic::Request<super::DecryptRequest>) -> Self::Future {
                        let inner = Arc::clone(&self.0);
                        let fut = async move { <T as KeyManagementService>::decrypt(&inner, request).await };
                        Box::pin(fut)
                    }
                }
                let accept_compression_encodings = self.accept_compression_encodings;
                let send_compression_encodings = self.send_compression_encodings;
                let max_decoding_message_size = self.max_decoding_message_size;
                let max_encoding_message_size = self.max_encoding_message_size;
                let inner = self.inner.clone();
                let fut = async move {
                    let method = DecryptSvc(inner);
                    let codec = tonic_prost::ProstCodec::default();
                    let mut grpc = tonic::server::Grpc::new(codec)
                        .apply_compression_config(accept_compression_encodings, send_compression_encodings)
                        .apply_max_message_size_config(max_decoding_message_size, max_encoding_message_size);
                    let res = grpc.unary(method, req).await;
                    Ok(res)
                };
                Box::pin(fut)
            }
            "/v2.KeyManagementService/Encrypt" => {
                #[allow(non_camel_case_types)]
                struct EncryptSvc<T: KeyManagementService>(pub Arc<T>);
                impl<T: KeyManagementService> UnaryService<super::EncryptRequest> for EncryptSvc<T> {
                    type Response = super::EncryptResponse;
                    type Future = BoxFuture<tonic::Response<Self::Response>, tonic::Status>;
                    fn call(&mut self, request: tonic::Request<super::EncryptRequest>) -> Self::Future {
                        let inner = Arc::clone(&self.0);
                        let fut = async move { <T as KeyManagementService>::encrypt(&inner, request).await };
                        Box::pin(fut)
                    }
                }
                let accept_compression_encodings = self.accept_compression_encodings;
                let send_compression_encodings = self.send_compression_encodings;
                let max_decoding_message_size = self.max_decoding_message_size;
                let max_encoding_message_size = self.max_encoding_message_size;
                let inner = self.inner.clone();
                let fut = async move {
                    let method = EncryptSvc(inner);
                    let codec = tonic_prost::ProstCodec::default();
                    let mut grpc = tonic::server::Grpc::new(codec)
                        .apply_compression_config(accept_compression_encodings, send_compression_encodings)
                        .apply_max_message_size_config(max_decoding_message_size, max_encoding_message_size);
                    let res = grpc.unary(method, req).await;
                    Ok(res)
                };
                Box::pin(fut)
            }
            _ => Box::pin(async move {
                let mut response = http::Response::new(tonic::body::Body::default());
                let headers = response.headers_mut();
                headers.insert(tonic::Status::GRPC_STATUS, (tonic::Code::Unimplemented as i32).into());
                headers.insert(http::header::CONTENT_TYPE, tonic::metadata::GRPC_CONTENT_TYPE);
                Ok(response)
            }),
        }
    }
}
impl<T> Clone for KeyManagementServiceServer<T> {
    fn clone(&self) -> Self {
        let inner = self.inner.clone();
        Self {
            inner,
            accept_compression_encodings: self.accept_compression_encodings,
            send_compression_encodings: self.send_compression_encodings,
            max_decoding_message_size: self.max_decoding_message_size,
            max_encoding_message_size: self.max_encoding_message_size,
        }
    }
}
/// Generated gRPC service name
pub const SERVICE_NAME: &str = "v2.KeyManagementService";
impl<T> tonic::server::NamedService for KeyManagementServiceServer<T> {
    const NAME: &'static str = SERVICE_NAME;
}
