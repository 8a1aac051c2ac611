import { randomUUID } from 'node:crypto';
import { openAudit } from '#adapters/dynamo/audit-trail.ts';
import { createDocumentClient } from '#adapters/dynamo/client.ts';
import { type EraseUserDeps, type Erasure, eraseUser } from '#adapters/dynamo/erase-user.ts';
import { ulids } from '#adapters/ids.ts';
import { ObjectResultStore } from '#adapters/objects/result-store.ts';
import { openObjectStore } from '#adapters/open-object-store.ts';
import { StoredSignalFiles } from '#adapters/signals/stored-signal-files.ts';
import type { StoredAuditCall } from '#contract/platform/audit.ts';
import { OPERATOR } from '#contract/values/names.ts';
import { isOwnPrincipal } from '#domain/access/own-principals.ts';
import { isPrincipalName } from '#runtime/authenticate.ts';
import { LOCAL_TABLES } from '../../src/local/platform-info.ts';
import { UsageError } from './options.ts';
import { withSession } from './session.ts';

export interface EraseOptions {
  readonly json?: boolean;
  readonly dryRun?: boolean;
  readonly jobs?: string;
  readonly registry?: string;
  readonly results?: string;
}

interface Storage extends EraseUserDeps {
  /** Endpoint of the database; undefined: AWS. */
  readonly endpoint: string | undefined;
}

export async function runErasure(subject: string, options: EraseOptions): Promise<void> {
  const { jobs, registry, results, dryRun = false, json = false } = options;
  if (!isErasable(subject))
    throw new UsageError(
      `${JSON.stringify(subject)} is no user's ID, or a name of the platform itself: pass the sub of the user's tokens`,
    );
  if (jobs && registry && results) {
    await erase(storageOf(undefined, { jobs, registry, results }), subject, { dryRun, json });
    return;
  }
  if (jobs || registry || results)
    throw new UsageError('Pass --jobs, --registry and --results, or none of them');
  await withSession(undefined, async ({ platform }) => {
    const { DYNAMODB_ENDPOINT, OBJECTS_DIRECTORY, RESULTS_BUCKET } = platform!.storage;
    const names = { jobs: LOCAL_TABLES.jobs, registry: LOCAL_TABLES.registry, results: RESULTS_BUCKET };
    await erase(storageOf(DYNAMODB_ENDPOINT, names, OBJECTS_DIRECTORY), subject, { dryRun, json });
  });
}

/** What the platform did itself keeps its name in the histories and the audit trail. Callers without a token are erased as a user is. */
function isErasable(subject: string): boolean {
  return isPrincipalName(subject) && !isOwnPrincipal(subject);
}

function storageOf(
  endpoint: string | undefined,
  names: { readonly jobs: string; readonly registry: string; readonly results: string },
  folder?: string,
): Storage {
  const objects = openObjectStore({ OBJECTS_DIRECTORY: folder }, names.results);
  return {
    endpoint,
    client: createDocumentClient({ endpoint }),
    jobsTable: names.jobs,
    registryTable: names.registry,
    results: new ObjectResultStore(objects),
    signalFiles: new StoredSignalFiles(objects),
  };
}

async function erase(
  storage: Storage,
  subject: string,
  { dryRun, json }: { readonly dryRun: boolean; readonly json: boolean },
): Promise<void> {
  const print = (erasure: Erasure, verb: string) =>
    console.log(json ? JSON.stringify(erasure) : erasureText(erasure, verb));
  if (dryRun) {
    print(await eraseUser(storage, subject, { dryRun }), 'would be');
    return;
  }
  const trail = openAudit(storage.registryTable, storage.endpoint);
  const call = auditCall(subject);
  await trail.begin(call);
  try {
    const erasure = await eraseUser(storage, subject, { dryRun });
    const { unfinished } = erasure;
    if (unfinished.length > 0) {
      throw new UsageError(
        `Nothing was erased: ${unfinished.length} jobs of ${subject} have not ended, or their tasks still stop. Cancel them, wait a minute, then repeat the command: ${unfinished.slice(0, 10).join(', ')}`,
      );
    }
    await trail.end(call, { ...ended(), outcome: 'succeeded', status: 200, code: null });
    print(erasure, 'were');
  } catch (error) {
    const isRefused = error instanceof UsageError;
    const outcome = isRefused
      ? ({ outcome: 'refused', status: 409 } as const)
      : ({ outcome: 'failed', status: 500 } as const);
    await trail.end(call, { ...ended(), ...outcome, code: null });
    throw error;
  }
}

function erasureText(erasure: Erasure, verb: string): string {
  const { pseudonym, jobs, evidence, grants, signals, webhooks, registry, audit, unfinished } = erasure;
  return [
    `${jobs} jobs ${verb} deleted with their results and trials`,
    `${evidence} jobs behind registered versions ${verb} given to ${pseudonym}`,
    `${grants} grants to the user ${verb} removed`,
    `${signals} files of signals ${verb} deleted, or given to ${pseudonym} where a version has them`,
    `${webhooks} webhooks ${verb} deleted with their deliveries`,
    `${registry} items of the registry ${verb} given to ${pseudonym}`,
    `${audit} audit entries ${verb} reduced to the ID`,
    ...unfinished.map((job) => `${job} has not ended, or its task still stops: cancel it first`),
  ].join('\n');
}

const ended = () => ({ created: null, ended_at: new Date().toISOString() });

function auditCall(subject: string): StoredAuditCall {
  return {
    schema_version: 1,
    id: ulids.ulid(),
    at: new Date().toISOString(),
    principal: OPERATOR,
    roles: [],
    service: 'cli',
    operation: 'eraseUser',
    resource: { kind: 'users', id: subject },
    method: 'CLI',
    path: 'touchstone erase-user',
    correlation_id: randomUUID(),
    request: null,
    source_ip: null,
    user_agent: null,
    outcome: null,
  };
}
