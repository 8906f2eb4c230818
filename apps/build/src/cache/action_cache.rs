//! The service for results of actions: `ActionCache`.

use tonic::{Request, Response, Status};

use super::service::{Cache, digest};
use super::status::{read_failed, write_failed};
use crate::reapi::action_cache_server::ActionCache;
use crate::reapi::{ActionResult, GetActionResultRequest, UpdateActionResultRequest};
use crate::storage::StoredResult;

#[tonic::async_trait]
impl ActionCache for Cache {
    async fn get_action_result(
        &self,
        request: Request<GetActionResultRequest>,
    ) -> Result<Response<ActionResult>, Status> {
        let request = request.into_inner();
        self.check(&request.instance_name, request.digest_function)?;
        let action = digest(request.action_digest.as_ref(), "the action")?;
        let result = self.storage().results.get(action.hash()).await;
        match result.map_err(|error| read_failed(&error))? {
            Some(result) => Ok(Response::new(result.into_message())),
            None => Err(Status::not_found(format!(
                "there is no result of the action {action}, or not all of its blobs"
            ))),
        }
    }

    async fn update_action_result(
        &self,
        request: Request<UpdateActionResultRequest>,
    ) -> Result<Response<ActionResult>, Status> {
        let request = request.into_inner();
        self.check(&request.instance_name, request.digest_function)?;
        if !self.config().updates {
            return Err(Status::permission_denied(
                "clients may not store results of actions here",
            ));
        }
        let action = digest(request.action_digest.as_ref(), "the action")?;
        let result = request.action_result.as_ref();
        let result = result.ok_or_else(|| Status::invalid_argument("the result is missing"))?;
        let result = StoredResult::try_from(result)
            .map_err(|error| Status::invalid_argument(error.to_string()))?;
        let message = result.message().clone();
        let stored = self.storage().results.put(action.hash(), result).await;
        stored.map_err(|error| write_failed(&error))?;
        Ok(Response::new(message))
    }
}
