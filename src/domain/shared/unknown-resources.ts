import { CodedError } from '#contract/values/errors.ts';

/** Errors of unknown IDs and of deleted jobs. `field` names the ID in the request. */

export function unknownBacktest(jobId: string, field = 'job_id'): CodedError {
  return new CodedError('RES001', { field, context: { [field]: jobId } });
}

export function unknownHyperopt(jobId: string, field = 'job_id'): CodedError {
  return new CodedError('OPT001', { field, context: { [field]: jobId } });
}

export function unknownModel(name: string, field = 'model_name'): CodedError {
  return new CodedError('RES002', {
    message: 'No version of this strategy is registered: register a backtest first',
    field,
    context: { name: name.slice(0, 100) },
  });
}

export function unknownChallenge(id: string, field = 'challenge_id'): CodedError {
  return new CodedError('CHL001', { field, context: { challenge_id: id.slice(0, 100) } });
}

export function unknownApproval(id: string, field = 'approval_id'): CodedError {
  return new CodedError('APR001', { field, context: { approval_id: id.slice(0, 100) } });
}

export function unknownWebhook(id: string, field = 'webhook_id'): CodedError {
  return new CodedError('HOOK001', { field, context: { webhook_id: id.slice(0, 100) } });
}

export function unknownSignals(id: string, field = 'signals_id'): CodedError {
  return new CodedError('SIG001', { field, context: { signals_id: id.slice(0, 100) } });
}

/** RES006 for a job, or for a part of it, that was deleted after its retention, or by a user. */
export function expired(what: string, jobId: string, field = 'job_id'): CodedError {
  return new CodedError('RES006', {
    message: `${what} was deleted, by a user or after its retention. Run it again, and keep the new job with POST .../keep.`,
    field,
    context: { [field]: jobId },
  });
}
