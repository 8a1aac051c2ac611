import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import type { Log } from './log.ts';

/** Attempts to report an outcome. Without a report CloudFormation waits for the resource's time limit. */
const ATTEMPTS = 3;
/** CloudFormation rejects responses above 4 KB. */
const MAX_REASON = 1000;

export interface CustomResource {
  /** Creates or updates the resource, also again, and returns its physical ID: another ID deletes the one before. */
  readonly put: (properties: Readonly<Record<string, unknown>>) => Promise<string>;
  readonly remove: (properties: Readonly<Record<string, unknown>>) => Promise<void>;
}

/** Lambda handler of a custom resource of CloudFormation. It reports every outcome, also an error. */
export function customResource({ put, remove }: CustomResource, log: Log, send: typeof fetch = fetch) {
  return async (event: CloudFormationCustomResourceEvent): Promise<void> => {
    const { RequestType, StackId, RequestId, LogicalResourceId, ResourceProperties } = event;
    const existing = RequestType === 'Create' ? LogicalResourceId : event.PhysicalResourceId;
    const identity = { StackId, RequestId, LogicalResourceId };
    let outcome: object;
    try {
      let id = existing;
      if (RequestType === 'Delete') await remove(ResourceProperties);
      else id = await put(ResourceProperties);
      outcome = { Status: 'SUCCESS', PhysicalResourceId: id };
    } catch (error) {
      log.error('Custom resource failed', { request: RequestType, error: error as Error });
      const Reason = String((error as Error).message).slice(0, MAX_REASON);
      outcome = { Status: 'FAILED', PhysicalResourceId: existing, Reason };
    }
    // Bytes, because the signed address allows no content type.
    const body = Buffer.from(JSON.stringify({ ...identity, ...outcome }));
    await report(event.ResponseURL, body, log, send);
  };
}

async function report(url: string, body: Buffer<ArrayBuffer>, log: Log, send: typeof fetch): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      const { ok, status } = await send(url, { method: 'PUT', body, signal: AbortSignal.timeout(10_000) });
      if (ok) return;
      throw new Error(`CloudFormation responded ${status}`);
    } catch (error) {
      log.error('Outcome not reported to CloudFormation', { attempt, error: error as Error });
      if (attempt === ATTEMPTS) throw error;
    }
  }
}
