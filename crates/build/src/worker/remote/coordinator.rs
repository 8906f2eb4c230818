//! The way to the coordinator.

use std::time::Duration;

use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{Request, Status};

use super::config::{StartError, WorkerConfig};

/// For how long a connection may be tried, and may not answer.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) type Authorized = InterceptedService<Channel, Token>;

/// Adds the token to a request.
#[derive(Debug, Clone)]
pub(super) struct Token(Option<MetadataValue<Ascii>>);

impl Token {
    pub(super) fn new(token: Option<&str>) -> Result<Self, StartError> {
        let Some(token) = token else {
            return Ok(Self(None));
        };
        match format!("Bearer {token}").parse::<MetadataValue<Ascii>>() {
            Ok(mut value) => {
                value.set_sensitive(true);
                Ok(Self(Some(value)))
            }
            Err(_) => Err(StartError::Coordinator("the token is not ASCII".to_owned())),
        }
    }
}

impl Interceptor for Token {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = &self.0 {
            request
                .metadata_mut()
                .insert("authorization", token.clone());
        }
        Ok(request)
    }
}

/// A channel that connects when it is used, and again when it has to.
pub(super) fn coordinator(config: &WorkerConfig) -> Result<Authorized, StartError> {
    let refuse = |error: tonic::transport::Error| {
        StartError::Coordinator(format!("{}: {error}", config.coordinator))
    };
    let mut endpoint = endpoint(&config.coordinator).map_err(refuse)?;
    if config.coordinator.starts_with("https:") {
        let mut tls = ClientTlsConfig::new();
        if let Some(pem) = &config.authority {
            tls = tls.ca_certificate(Certificate::from_pem(pem));
        }
        endpoint = endpoint.tls_config(tls).map_err(refuse)?;
    }
    let token = Token::new(config.token.as_deref())?;
    Ok(InterceptedService::new(endpoint.connect_lazy(), token))
}

/// To another worker.
pub(super) fn peer(address: &str, key: &str) -> Result<Authorized, StartError> {
    let endpoint = endpoint(address).map_err(|error| StartError::Coordinator(error.to_string()))?;
    let token = Token::new(Some(key))?;
    Ok(InterceptedService::new(endpoint.connect_lazy(), token))
}

fn endpoint(address: &str) -> Result<Endpoint, tonic::transport::Error> {
    Ok(Endpoint::from_shared(address.to_owned())?
        .tcp_nodelay(true)
        .connect_timeout(PATIENCE)
        .initial_stream_window_size(2 << 20)
        .initial_connection_window_size(8 << 20)
        .http2_keep_alive_interval(PATIENCE)
        .keep_alive_timeout(PATIENCE))
}
