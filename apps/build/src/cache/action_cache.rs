//! The service for results of actions: `ActionCache`.

use tonic::{Request, Response, Status};

use super::service::{Cache, digest};
use super::status::invalid;
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
        let result = self.result(action.hash()).await?;
        Ok(Response::new(result.into_message()))
    }

    async fn update_action_result(
        &self,
        request: Request<UpdateActionResultRequest>,
    ) -> Result<Response<ActionResult>, Status> {
        let request = request.into_inner();
        self.check(&request.instance_name, request.digest_function)?;
        self.check_update()?;
        let action = digest(request.action_digest.as_ref(), "the action")?;
        let message = request.action_result;
        let message = message.ok_or_else(|| invalid("the result is missing"))?;
        let result = StoredResult::try_from(&message).map_err(invalid)?;
        self.storage().results.put(action.hash(), result).await?;
        Ok(Response::new(message))
    }
}
