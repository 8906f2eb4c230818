//! Channels to the coordinator and to other workers.

use std::error::Error as StdError;
use std::path::Path;
use std::time::Duration;

use http::Uri;
use http::uri::Scheme;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, ClientTlsConfig, Endpoint, Error};
use tonic::{Request, Status};

use crate::server::{NotACertificate, tls};

/// The time limit for connecting, and for a connection to answer.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) type Authorized = InterceptedService<Channel, Token>;

/// Adds the token to a request.
#[derive(Debug, Clone)]
pub(super) struct Token(Option<MetadataValue<Ascii>>);

impl Token {
    fn new(token: Option<&str>) -> Result<Self, String> {
        let Some(token) = token else {
            return Ok(Self(None));
        };
        let value = format!("Bearer {token}").parse();
        let mut value: MetadataValue<Ascii> =
            value.map_err(|error| format!("the token cannot be sent: {error}"))?;
        value.set_sensitive(true);
        Ok(Self(Some(value)))
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

/// Trusts the certificates that this authority has signed; without one, those the system trusts.
pub(super) fn trust(authority: Option<&Path>) -> Result<ClientTlsConfig, NotACertificate> {
    let tls = ClientTlsConfig::new();
    Ok(match authority {
        Some(file) => tls.trust_anchors(tls::authorities(file)?.roots),
        None => tls.with_native_roots(),
    })
}

/// Returns true if the URL is one for TLS.
pub(super) fn is_encrypted(address: &Uri) -> bool {
    address.scheme() == Some(&Scheme::HTTPS)
}

/// Makes a channel that connects when it is first used, and again when it must.
///
/// # Errors
/// If it is not an address, or there is no certificate to trust, or the token cannot be sent.
pub(super) fn channel(
    address: &str,
    token: Option<&str>,
    trust: &ClientTlsConfig,
) -> Result<Authorized, String> {
    // "Transport error", and its cause.
    let refused = |error: Error| match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    };
    let token = Token::new(token)?;
    let mut endpoint = Endpoint::from_shared(address.to_owned()).map_err(refused)?;
    if is_encrypted(endpoint.uri()) {
        endpoint = endpoint.tls_config(trust.clone()).map_err(refused)?;
    }
    let endpoint = endpoint
        .tcp_nodelay(true)
        .connect_timeout(PATIENCE)
        .initial_stream_window_size(2 << 20)
        .initial_connection_window_size(8 << 20)
        .http2_keep_alive_interval(PATIENCE)
        .keep_alive_timeout(PATIENCE);
    Ok(InterceptedService::new(endpoint.connect_lazy(), token))
}
